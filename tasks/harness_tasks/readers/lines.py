"""The ``lines`` reader: plain text corpora with one sentence per line,
and reproducible parts of them.

The references of another reader also serve as lines (``of``). A corpus is collected,
filtered, shuffled with a seed and cut, in this order, so that the reference, candidate
and training parts of a study come from one pool and share no line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.contracts import Example, PathParam, Reader
from harness.contracts.parameters import Count, Index, check_arguments
from harness.errors import InputError
from harness.files import captions as checks
from harness.files.streams import lines_of
from harness.files.user_files import existing, fingerprint, open_binary
from harness.registry import resolve

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a line without punctuation, as ``min_count`` and
    ``max_words`` count them.

    >>> words_of("A man's well-worn coat.")
    ['a', "man's", 'well-worn', 'coat']
    """
    return _WORD.findall(text.lower())


class Lines:
    """Examples whose references are lines: one example per line,
    or per ``block`` lines.

    Parameters
    ----------
    path : path or list of paths, optional
        Text files (.txt or .gz, UTF-8).
    of : mapping or list of mappings, optional
        Other readers with their parameters (``{reader: coco, path: ...}``); every
        reference is a line. The lines of the files come first. One of ``path`` and
        ``of`` is required.
    block : int, default 1
        Number of lines per example.
    blank : {"skip", "error"}, default "skip"
        Treatment of lines without text.
    max_words : int, optional
        Largest number of words of a line; longer lines are dropped.
    min_count : int, optional
        Smallest number of occurrences of a word in the whole corpus; lines with rarer
        words are dropped.
    distinct : bool, default False
        Drop all but the first of equal lines.
    shuffle : int, optional
        Seed of a random order of the lines; without it the order is that of the files.
    offset, limit : int
        First line and number of lines of the part to read, after all of the above; 0
        and all by default.

    Raises
    ------
    InputError
        For a missing file, a parameter out of range, or when both ``path`` and ``of``
        are missing.
    """

    @check_arguments
    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam] | None = None,
        of: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        block: Count = 1,
        blank: Literal["skip", "error"] = "skip",
        max_words: Count | None = None,
        min_count: Count | None = None,
        distinct: bool = False,
        shuffle: Index | None = None,
        offset: Index = 0,
        limit: Count | None = None,
    ) -> None:
        paths = [path] if isinstance(path, str) else list(path or ())
        self.paths = [existing(item, "file of lines") for item in paths]
        others = [of] if isinstance(of, Mapping) else list(of or ())
        self.readers = [_reader(item) for item in others]

        if not self.paths and not self.readers:
            raise InputError(
                "the corpus is missing; expected 'path' (one or several files) "
                "or 'of' (another reader)",
                "lines",
            )

        self.blank = blank
        self.distinct = bool(distinct)
        self.block = block
        self.offset = offset
        self.shuffle = shuffle
        self.limit = limit
        self.max_words = max_words
        self.min_count = min_count

    def fingerprint(self) -> str:
        """Return ``lines:`` and a hash of the files,
        the other readers and the parameters.
        """
        names = (
            "block",
            "blank",
            "max_words",
            "min_count",
            "distinct",
            "shuffle",
            "offset",
            "limit",
        )
        params = {name: getattr(self, name) for name in names}
        params["of"] = [reader.fingerprint() for reader in self.readers]
        return fingerprint("lines", self.paths, params)

    def __iter__(self) -> Iterator[Example]:
        """Yield the examples; their ids count from 1.

        Raises :class:`InputError` as :meth:`lines`, and for a number of lines that is
        not a multiple of ``block``.
        """
        lines = self.lines()
        if len(lines) % self.block:
            raise InputError(
                f"{len(lines)} lines do not fill blocks of {self.block}", self._where()
            )
        for start in range(0, len(lines), self.block):
            yield Example(
                str(start // self.block + 1), tuple(lines[start : start + self.block])
            )

    def lines(self) -> list[str]:
        """Return the lines of the part, in order.

        Raises :class:`InputError` for text that is not UTF-8, a blank line with
        ``blank="error"``, and a part that goes beyond the lines left after filtering.
        """
        corpus = [text for path in self.paths for text in self._file(path)]
        corpus += [
            text
            for reader in self.readers
            for example in reader
            for text in example.references
        ]

        lines = self._filter_lines(corpus)
        if self.shuffle is not None:
            order = np.random.default_rng(self.shuffle).permutation(len(lines))
            lines = [lines[i] for i in order.tolist()]

        left = f"{len(lines)} of {len(corpus)} lines are left after filtering"
        if self.offset >= len(lines):
            raise InputError(
                f"offset is {self.offset}, but {left}",
                self._where(),
                parameter="offset",
                value=self.offset,
            )

        end = None if self.limit is None else self.offset + self.limit
        selected_lines = lines[self.offset : end]
        if self.limit is not None and len(selected_lines) < self.limit:
            raise InputError(
                f"limit is {self.limit} and offset {self.offset}, but {left}",
                self._where(),
                parameter="limit",
                value=self.limit,
            )

        return selected_lines

    def _filter_lines(self, lines: list[str]) -> list[str]:
        """Return the lines that ``distinct``, ``max_words`` and ``min_count`` leave."""
        if self.distinct:
            lines = list(dict.fromkeys(lines))
        if self.max_words is None and self.min_count is None:
            return lines

        words = [words_of(text) for text in lines]
        word_limit = self.max_words or max(map(len, words), default=0)
        counts = Counter(word for line in words for word in line)

        # Frequencies are those of the lines before any is left out.
        rare = {word for word, count in counts.items() if count < (self.min_count or 1)}
        return [
            text
            for text, line in zip(lines, words)
            if len(line) <= word_limit and rare.isdisjoint(line)
        ]

    def _file(self, path: Path) -> Iterator[str]:
        """Yield the lines of a file that are not blank, stripped."""
        with open_binary(path) as file:
            for number, raw in lines_of(file, str(path)):
                location = f"{path}:{number}"
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise InputError(
                        f"not UTF-8 at byte {error.start} of the line: {error.reason}",
                        location,
                    ) from error
                if text:
                    yield checks.caption(text, location, what="line")
                elif self.blank == "error":
                    raise InputError("blank line (blank: skip accepts it)", location)

    def _where(self) -> str:
        return str(self.paths[0]) if self.paths else "lines"


def _reader(spec: Mapping[str, Any]) -> Reader:
    """Return the reader of ``{reader: NAME, parameter: value}``;
    its errors are errors of the parameter ``of``.
    """
    if not isinstance(spec, Mapping) or "reader" not in spec:
        raise InputError(
            f"of is {spec!r}; expected a reader with its parameters, "
            f"such as {{reader: coco, path: ...}}",
            "lines",
            parameter="of",
            value=spec,
        )

    params = {key: value for key, value in spec.items() if key != "reader"}
    try:
        return resolve("readers", {str(spec["reader"]): params})
    except InputError as error:
        raise InputError(
            error.message, error.where, parameter="of", value=error.value
        ) from error
