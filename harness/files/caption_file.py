"""Base class of readers that read one file of captions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from harness.contracts import Example, PathParam, Reading, Values
from harness.contracts.parameters import Count, check_arguments
from harness.contracts.reading import SHOWN_ITEMS
from harness.files.user_files import existing, fingerprint


class ReadingCounter:
    """Numbers of the examples that go by, and the first of them."""

    def __init__(self) -> None:
        self.items = self.texts = 0
        self.first: dict[str, tuple[str, ...]] = {}

    def count(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Yield the examples."""
        for example in examples:
            if self.items < SHOWN_ITEMS:
                self.first[example.id] = example.references[:SHOWN_ITEMS]
            self.items += 1
            self.texts += len(example.references)
            yield example

    def reading(
        self,
        path: Path,
        form: str,
        id: str | None,
        columns: tuple[str, ...] = (),
        *,
        left_out: Mapping[str, int] | None = None,
        other_ids: tuple[str, ...] = (),
        other_columns: tuple[str, ...] = (),
    ) -> Reading:
        """Return the reading of a file of references whose examples were counted."""
        return Reading(
            str(path),
            "references",
            form,
            id,
            columns,
            self.items,
            self.texts,
            dict(left_out or {}),
            other_ids=other_ids,
            other_columns=other_columns,
            examples=dict(self.first),
        )


class CaptionFile:
    """Base class: parameters and fingerprint that readers of one file share; a subclass
    defines ``__iter__``.

    Parameters
    ----------
    path : path
        File to read.
    media_root : str, optional
        Folder put before the media names.
    limit_references : int, optional
        Number of references per example, the first ones of each; all by default.
    allow_empty : bool, default False
        Accept empty references.

    Raises
    ------
    InputError
        When there is no such file (parameter ``path``) or ``limit_references`` is not a
        count.
    """

    name: ClassVar[str] = "unnamed"
    """Prefix of the fingerprint."""
    what: ClassVar[str] = "file of captions"
    """Description of the file in messages."""

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam,
        media_root: str | None = None,
        limit_references: Count | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.path = self.locate(path)
        self.media_root = media_root
        self.limit_references = limit_references
        self.allow_empty = allow_empty
        self.reading: Reading | None = None
        """Reading of the file; None before that."""

    def readings(self) -> list[Reading]:
        """Return how the file was read, after it was read."""
        return [] if self.reading is None else [self.reading]

    def locate(self, path: PathParam) -> Path:
        """Return the path of an existing file; raise :class:`InputError` for another
        one.
        """
        return existing(path, self.what)

    def parameters(self) -> Values:
        """Return the parameters that change the examples, for the fingerprint."""
        return {
            "limit_references": self.limit_references,
            "allow_empty": self.allow_empty,
            "media": self.media_root,
        }

    def fingerprint(self) -> str:
        """Return the reader's name and a hash of the file's bytes and of
        :meth:`parameters`.
        """
        return fingerprint(self.name, [self.path], self.parameters())
