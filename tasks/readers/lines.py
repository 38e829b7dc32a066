"""The ``lines`` reader: plain text corpora, one sentence a line, and parts of them that are the same for everybody.

Also any other reader's references, each a line (``of``). A corpus is gathered, filtered, put into a seeded order and cut, in this
sequence, so that the reference, candidate and training parts of a study come from one pool and never share a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from harness.contracts import Example, PathParam
from harness.errors import InputError
from harness.files import captions as checks
from harness.files import records as files
from harness.registry import resolve

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Lower-case words of a line, punctuation left out: what ``min_count`` and ``max_words`` count.

    >>> words_of("A man's well-worn coat.")
    ['a', "man's", 'well-worn', 'coat']
    """
    return _WORD.findall(text.lower())


class Lines:
    """One example per line, or per ``block`` lines, the lines its references.

    path: a file (.txt or .gz, UTF-8) or a list of files. of: another reader with its parameters (``{reader: coco, path: ...}``),
        or a list of them, in place of or after the files: every reference is a line.
    blank: ``skip`` or ``error`` for lines without text.
    max_words: drop longer lines. min_count: drop every line that holds a word rarer than this in the whole corpus.
    distinct: keep the first of equal lines.
    shuffle: a seed; the lines are put into a random order before they are cut.
    offset, limit: the part to take, in lines, after all of the above.
    """

    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam] | None = None,
        of: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        block: int = 1,
        blank: Literal["skip", "error"] = "skip",
        max_words: int | None = None,
        min_count: int | None = None,
        distinct: bool = False,
        shuffle: int | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> None:
        given = [path] if isinstance(path, str) else list(path or ())
        self.paths = [files.existing(item, "file of lines") for item in given]
        self.readers = [_reader(item) for item in ([of] if isinstance(of, Mapping) else list(of or ()))]
        if not self.paths and not self.readers:
            raise InputError("lines: give the corpus as path (a file or several) or of (another reader)")
        if blank not in ("skip", "error"):
            raise InputError(f"lines: blank is {blank!r}; expected skip or error")
        for name, number in (("offset", offset), ("shuffle", shuffle)):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
                raise InputError(f"lines: {name} is {number!r}; expected a whole number of at least 0")
        self.block = checks.positive(block, "block") or 1
        self.blank, self.distinct, self.shuffle, self.offset = blank, bool(distinct), shuffle, offset
        self.max_words = checks.positive(max_words, "max_words")
        self.min_count = checks.positive(min_count, "min_count")
        self.limit = checks.positive(limit, "limit")

    def fingerprint(self) -> str:
        names = ("block", "blank", "max_words", "min_count", "distinct", "shuffle", "offset", "limit")
        params = {name: getattr(self, name) for name in names}
        return files.fingerprint(
            "lines", self.paths, {**params, "of": [reader.fingerprint() for reader in self.readers]}
        )

    def __iter__(self) -> Iterator[Example]:
        """Raises :class:`InputError` for what is no UTF-8, a blank line that is not allowed, an offset beyond the end, and
        a number of lines that does not fill the last block."""
        lines = self.lines()
        if len(lines) % self.block:
            raise InputError(f"{len(lines)} lines do not fill blocks of {self.block}", self._where())
        for start in range(0, len(lines), self.block):
            yield Example(str(start // self.block + 1), tuple(lines[start : start + self.block]))

    def lines(self) -> list[str]:
        """The chosen lines, in order."""
        found = [text for path in self.paths for text in self._file(path)]
        found += [text for reader in self.readers for example in reader for text in example.references]
        kept = self._filtered(found)
        if self.shuffle is not None:
            kept = [kept[i] for i in np.random.default_rng(self.shuffle).permutation(len(kept)).tolist()]
        if self.offset >= len(kept):
            raise InputError(
                f"offset {self.offset} is beyond the {len(kept)} lines (of {len(found)}) left", self._where()
            )
        chosen = kept[self.offset : None if self.limit is None else self.offset + self.limit]
        if self.limit is not None and len(chosen) < self.limit:
            raise InputError(
                f"{self.limit} lines from {self.offset} on are asked for; {len(kept)} are there (of {len(found)})",
                self._where(),
            )
        return chosen

    def _filtered(self, lines: list[str]) -> list[str]:
        if self.distinct:
            lines = list(dict.fromkeys(lines))
        if self.max_words is None and self.min_count is None:
            return lines
        words = [words_of(text) for text in lines]
        most = self.max_words or max(map(len, words), default=0)
        counts = Counter(word for own in words for word in own)
        rare = {word for word, count in counts.items() if count < (self.min_count or 1)}
        return [text for text, own in zip(lines, words) if len(own) <= most and rare.isdisjoint(own)]

    def _file(self, path: Any) -> Iterator[str]:
        with files.opened(path) as file:
            for number, raw in enumerate(file, 1):
                where = f"{path}:{number}"
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise InputError(f"not UTF-8 at byte {error.start} of the line: {error.reason}", where) from error
                if text:
                    yield checks.caption(text, where, what="line")
                elif self.blank == "error":
                    raise InputError("blank line (blank: skip passes over it)", where)

    def _where(self) -> str:
        return str(self.paths[0]) if self.paths else "lines"


def _reader(spec: Mapping[str, Any]) -> Any:
    if not isinstance(spec, Mapping) or "reader" not in spec:
        raise InputError(
            f"lines: of is {spec!r}; expected a reader with its parameters, such as {{reader: coco, path: ...}}"
        )
    params = {key: value for key, value in spec.items() if key != "reader"}
    return resolve("readers", {str(spec["reader"]): params})
