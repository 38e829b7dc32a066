"""The ``image-folder`` reader: captioned images of a folder, without references."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from harness.contracts import Example, PathParam, Reading
from harness.errors import InputError
from harness.files.image_names import image_folder
from harness.files.user_path import user_path
from harness.registry import current


class HoldsCaptions(Protocol):
    """An adapter whose captions can be read without a task."""

    def captions_by_id(self) -> Mapping[str, Sequence[str]]:
        """Return the captions by id."""
        ...


class CaptionedImages:
    """An example for each image that files of captions are about.

    The image of an id is the file whose name, or stem, is the id, or whose stem ends
    with it as a number (``COCO_val2014_000000391895.jpg`` of 391895). Examples have no
    references: metrics that read images alone score them.

    Parameters
    ----------
    path : str
        Folder of the images.
    captions : str or list of str
        Files of candidates, whose ids are the examples.
    columns : mapping, optional
        Column of the ids in these files (``{id: image}``).

    Raises
    ------
    InputError
        If a file cannot be read, or an id has no image or several.
    """

    def __init__(
        self,
        *,
        path: PathParam,
        captions: PathParam | list[PathParam],
        columns: Mapping[str, str | None] | None = None,
    ) -> None:
        self.folder = user_path(path)
        files = [captions] if isinstance(captions, str) else list(captions)
        ids = dict.fromkeys(name for file in files for name in _ids(file, columns))
        if not ids:
            raise InputError("no captions in the files", ", ".join(files))
        index = image_folder(self.folder)
        self._manner = Counter[str]()
        self._examples: list[Example] = []
        for name in ids:
            image, manner = index.find(name)
            self._manner[manner] += 1
            self._examples.append(Example(name, (), str(image)))

    def fingerprint(self) -> str:
        """Return a text that changes with the examples and with their images."""
        digest = hashlib.sha256()
        for example in self._examples:
            status = Path(str(example.media)).stat()
            parts = (example.id, example.media, status.st_size, status.st_mtime_ns)
            digest.update(repr(parts).encode())
        return f"images-{digest.hexdigest()[:16]}"

    def __iter__(self) -> Iterator[Example]:
        """Iterate over the examples in the order of the first file."""
        return iter(self._examples)

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self._examples)

    def readings(self) -> list[Reading]:
        """Return how the folder is read."""
        first = self._examples[0]
        manners = ", ".join(f"{name} ({n:,})" for name, n in self._manner.items())
        return [
            Reading(
                str(self.folder),
                "references",
                "a folder of images",
                "name of the file",
                (),
                len(self._examples),
                0,
                remarks=(
                    f"found by {manners}: the image of '{first.id}' is {first.media}",
                ),
            )
        ]


def _ids(file: str, columns: Mapping[str, str | None] | None) -> list[str]:
    """Return the ids of a file of candidates."""
    registry = current()
    params: dict[str, object] = {"path": str(file), "allow_empty": True}
    if columns is not None:
        params["columns"] = dict(columns)
    adapter = registry.create(
        "adapters", registry.with_role("adapters", "candidate-files").name, params
    )
    return list(cast(HoldsCaptions, adapter).captions_by_id())
