"""Texts as rows of words and n-grams: the readable version of ``TextIndex``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from caption_kernels_reference.tokenizer import Tokenizer

ORDERS = 4
"""Highest n-gram order."""
MOST_TOKENS = 1 << 24
"""Largest token id + 1."""


class Mark(NamedTuple):
    """Sizes of an index at some time."""

    rows: int
    grams: int
    entries: int
    resolved: int


def count_ngrams(
    words: Sequence[str], orders: int = ORDERS
) -> list[Counter[tuple[str, ...]]]:
    """Return the n-gram counts of a word list, one counter per order from 1 to
    ``orders``, by first occurrence.

    >>> count_ngrams(["a", "b", "a"], 2)
    [Counter({('a',): 2, ('b',): 1}), Counter({('a', 'b'): 1, ('b', 'a'): 1})]
    """
    return [
        Counter(tuple(words[i : i + k]) for i in range(len(words) - k + 1))
        for k in range(1, orders + 1)
    ]


class TextIndex:
    """Texts as rows of words, and the n-grams of each row.

    Texts are split at single blanks, as in the COCO toolkit's ROUGE-L: an empty text is
    one empty word. Equal word sequences share a row. n-grams are made of the words
    between white space, as in its BLEU and CIDEr: :meth:`gram_rows` returns the rows of
    these words, which are others only for texts with empty words or with white space
    other than blanks inside a word (a no-break space, as in ``3 1/2``).

    Parameters
    ----------
    tokenizer : str
        ``ptb``: texts are raw and go through the Penn Treebank tokeniser; ``none``:
        texts are tokenised already.

    Examples
    --------
    >>> index = TextIndex("none")
    >>> index.add(["a dog", "a cat", "a dog"]).tolist()
    [0, 1, 0]
    """

    def __init__(self, tokenizer: str = "ptb") -> None:
        if tokenizer not in ("ptb", "none"):
            raise ValueError("unknown tokenizer; expected 'ptb' or 'none'")
        self._tokenizer = Tokenizer() if tokenizer == "ptb" else None
        self._row_of: dict[tuple[str, ...], int] = {}
        self._words: list[tuple[str, ...]] = []
        self._vocabulary: set[str] = set()
        self._counts: list[list[Counter[tuple[str, ...]]] | None] = []
        self._grams: dict[tuple[str, ...], int] = {}
        self._n_entries = 0
        self._counted: list[tuple[int, int, int, int]] = []
        """Counted rows, each with the numbers of rows, n-grams and entries after it."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._words)

    @property
    def n_grams(self) -> int:
        """Number of distinct n-grams of orders 1 to 4."""
        return len(self._grams)

    @property
    def n_words(self) -> int:
        """Number of distinct words."""
        return len(self._vocabulary)

    def add(self, texts: Sequence[str]) -> np.ndarray:
        """Return the rows (T,) of the texts, int64; new ones are added."""
        if isinstance(texts, str):
            raise TypeError("expected a sequence of texts, found one str")
        texts = list(texts)
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(
                    f"expected texts of type str, found {type(text).__name__}"
                )
        tokenised = (
            texts if self._tokenizer is None else self._tokenizer.tokenize(texts)
        )
        return np.array(
            [self._add_words(tuple(text.split(" "))) for text in tokenised],
            dtype=np.int64,
        )

    def add_tokens(
        self,
        tokens: np.ndarray,
        starts: np.ndarray,
        end: int = -1,
        keep_end: bool = False,
    ) -> np.ndarray:
        """Return the rows (T,) of sequences of token ids,
        whose words are the ids in decimal digits.

        Parameters
        ----------
        tokens : ndarray
            Token ids of all sequences, int64.
        starts : ndarray
            Bounds of each sequence in ``tokens``, shape (T + 1,), int64.
        end : int
            Token before whose first occurrence a sequence ends; a negative number ends
            none.
        keep_end : bool
            Keep the first ``end`` token as a word.
        """
        bounds = starts.tolist()
        if not bounds or bounds[0] != 0 or bounds[-1] != len(tokens):
            raise ValueError(
                "expected bounds that begin with 0 and end with the number of tokens"
            )
        if any(stop < start for start, stop in pairwise(bounds)):
            raise ValueError("token ids: an argument is out of its range")
        rows = [
            self._add_words(_token_words(tokens[start:stop].tolist(), end, keep_end))
            for start, stop in pairwise(bounds)
        ]
        return np.array(rows, dtype=np.int64)

    def gram_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows (R,) whose words are those between white space, int64;
        their n-grams are counted.
        """
        self._check(rows)
        return np.array([self._gram_row(row) for row in rows.tolist()], dtype=np.int64)

    def lengths(self, rows: np.ndarray) -> np.ndarray:
        """Return the number of words (R,) of rows, int64."""
        self._check(rows)
        return np.array(
            [len(self._words[row]) for row in rows.tolist()], dtype=np.int64
        )

    def words(self, row: int) -> tuple[str, ...]:
        """Return the words of a row."""
        return self._words[row]

    def texts(self, rows: np.ndarray) -> list[str]:
        """Return the words of each row joined by one blank."""
        self._check(rows)
        return [" ".join(self._words[row]) for row in rows.tolist()]

    def counts(self, row: int) -> list[Counter[tuple[str, ...]]]:
        """Return the n-gram counts of a counted row, one counter per order."""
        counts = self._counts[row] if 0 <= row < self.n_rows else None
        if counts is None:
            raise IndexError("n-grams: a row or id lies outside its table")
        return counts

    def entries(self, row: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Return for each order the ids and counts of the n-grams of a counted row,
        by first occurrence.
        """
        return tuple(
            (
                np.array([self._grams[gram] for gram in counts], dtype=np.int64),
                np.array(list(counts.values()), dtype=np.int64),
            )
            for counts in self.counts(row)
        )

    def gram_id(self, gram: tuple[str, ...]) -> int:
        """Return the id of an n-gram of a counted row."""
        return self._grams[gram]

    def intern_grams(self, grams: Sequence[str]) -> np.ndarray:
        """Return the ids (G,) of n-grams, each of one to four words joined by blanks;
        new ones are added.
        """
        out = []
        for gram in grams:
            words = tuple(gram.split())
            if not 1 <= len(words) <= ORDERS:
                raise ValueError(
                    "n-grams of one to four words: an argument is out of its range"
                )
            self._vocabulary.update(words)
            for k in range(1, len(words)):
                self._grams.setdefault(words[:k], len(self._grams))
            out.append(self._grams.setdefault(words, len(self._grams)))
        return np.array(out, dtype=np.int64)

    def gram_texts(self) -> list[str]:
        """Return all n-grams by id, each its words joined by one blank."""
        return [" ".join(gram) for gram in self._grams]

    def document_frequencies(self, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the number of documents that contain each n-gram,
        shape (n_grams,), int64.

        Document d has the gram rows ``rows[starts[d] : starts[d + 1]]``. Raises
        ValueError for bounds that do not rise or lie outside.
        """
        bounds = starts.tolist()
        if (
            not bounds
            or bounds[0] < 0
            or bounds != sorted(bounds)
            or bounds[-1] > len(rows)
        ):
            raise ValueError("expected rising bounds of the documents within the rows")

        self._check(rows)
        frequencies = np.zeros(self.n_grams, dtype=np.int64)

        # An n-gram counts once in a document, however often its rows have it.
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist()):
            grams = {
                gram
                for row in rows[first:last].tolist()
                for counts in self.counts(row)
                for gram in counts
            }
            for gram in grams:
                frequencies[self._grams[gram]] += 1
        return frequencies

    def mark(self) -> Mark:
        """Return the state to which :meth:`rollback` returns."""
        return Mark(self.n_rows, self.n_grams, self._n_entries, len(self._counted))

    def rollback(
        self, mark: tuple[int, int, int, int], keep_grams: bool = False
    ) -> None:
        """Drop the rows and, without ``keep_grams``,
        the n-grams that were added since the mark; words stay.
        """
        state = Mark(*mark)
        if any(not 0 <= old <= new for old, new in zip(state, self.mark())):
            raise IndexError(
                "mark of another index: a row or id lies outside its table"
            )
        # The rows that stay must keep their entries and n-grams: the sizes of a mark
        # are those of one moment, not any four numbers.
        _, rows, grams, entries = (
            self._counted[state.resolved - 1] if state.resolved else (0, 0, 0, 0)
        )
        if (
            rows > state.rows
            or entries != state.entries
            or (not keep_grams and grams > state.grams)
        ):
            raise IndexError(
                "mark of another index: a row or id lies outside its table"
            )
        # A row that stays may have been counted since the mark: it is counted again
        # when it is needed.
        for row, *_ in self._counted[state.resolved :]:
            self._counts[row] = None
        del self._counted[state.resolved :]
        self._n_entries = state.entries
        while self.n_rows > state.rows:
            del self._row_of[self._words.pop()]
            self._counts.pop()
        while not keep_grams and self.n_grams > state.grams:
            self._grams.popitem()

    def _check(self, rows: np.ndarray) -> None:
        if rows.size and not (int(rows.min()) >= 0 and int(rows.max()) < self.n_rows):
            raise IndexError("rows: a row or id lies outside its table")

    def _add_words(self, words: tuple[str, ...]) -> int:
        row = self._row_of.setdefault(words, self.n_rows)
        if row == self.n_rows:
            self._words.append(words)
            self._counts.append(None)
            self._vocabulary.update(words)
        return row

    def _gram_row(self, row: int) -> int:
        target = self._add_words(tuple(" ".join(self._words[row]).split()))
        if self._counts[target] is None:
            counts = self._counts[target] = count_ngrams(self._words[target])
            for by_order in counts:
                for gram in by_order:
                    self._grams.setdefault(gram, len(self._grams))
                self._n_entries += len(by_order)
            self._counted.append((target, self.n_rows, self.n_grams, self._n_entries))
        return target


def _token_words(tokens: Iterable[int], end: int, keep_end: bool) -> tuple[str, ...]:
    """Return the words of a sequence of token ids."""
    words = []
    for token in tokens:
        if token == end >= 0 and not keep_end:
            break
        if not 0 <= token < MOST_TOKENS:
            raise IndexError("token ids: a row or id lies outside its table")
        words.append(str(token))
        if token == end:
            break
    return tuple(words)
