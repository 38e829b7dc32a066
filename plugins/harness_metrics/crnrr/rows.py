"""Captions as rows of numbers: sufficient statistics of metrics that count n-grams over a whole corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.contracts import Batch, Features
from harness_metrics.crnrr.resampling import Words
from harness_metrics.tokenisers.tokens import tokens_of

END_OF_SENTENCE, END_OF_SIDE = -1.0, -2.0
"""Marks in a row of statistics; word hashes are not negative."""


class WordRows:
    """Base class of metrics whose statistics are the words of the captions.

    A row holds the number of candidates, then the words of each candidate as 52-bit hashes with an end mark, a mark for the
    end of the candidates, and the references likewise. Rows of shards can therefore be joined and weighted. Values are exact
    unless two words of the corpus have the same hash, which happens in one of 10**6 corpora with 10**5 distinct words.
    """

    tokenizer = "ptb"
    """Name of the tokenizer."""

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return None: these metrics need nothing from the references of the whole task."""
        return None

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the captions as numbers ``(B, d)`` (see the class), rows padded with NaN at the end."""
        rows: list[np.ndarray] = []
        for ids in batch.text_ids:
            pieces: list[Any] = [float(batch.n)]
            for k, words in enumerate(self._hash_words(features, ids)):
                pieces.extend((words, END_OF_SENTENCE) if k != batch.n - 1 else (words, END_OF_SENTENCE, END_OF_SIDE))
            rows.append(np.concatenate([np.atleast_1d(piece) for piece in pieces]))
        out = np.full((len(rows), max(len(row) for row in rows)), np.nan)
        for target, row in zip(out, rows):
            target[: len(row)] = row
        return out

    def _hash_words(self, features: Features, ids: np.ndarray) -> list[np.ndarray]:
        """Return the word hashes ``(words,)`` of each text."""

        def compute(texts: list[str]) -> list[np.ndarray]:
            tokenized = tokens_of(features, features.intern(texts), self.tokenizer)
            return [np.array([word_hash(word) for word in text.split()], dtype=np.float64) for text in tokenized]

        return features.per_text(("word-hashes", self.tokenizer), ids, compute)


def word_hash(word: str) -> float:
    """Return a hash of a word, an integer below 2**52, equal in every process.

    >>> word_hash("dog") == word_hash("dog"), 0 <= word_hash("dog") < 2**52
    (True, True)
    """
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> 12)


def parse(stats: np.ndarray) -> list[Words]:
    """Return the words of candidates and of references of statistics ``(B, d)``; the unit of a sentence is its row.

    The sentences of both sides share one numbering: the candidates of a row come before its references.
    """
    body = stats[:, 1:]
    flat, row = body.ravel(), np.repeat(np.arange(len(body)), body.shape[1])
    present = ~np.isnan(flat)
    flat, row = flat[present], row[present]
    marks = np.bincount(row[flat == END_OF_SIDE], minlength=len(body))
    reference = np.cumsum(flat == END_OF_SIDE) > np.concatenate([[0], np.cumsum(marks)])[row]
    sentence = np.cumsum(flat == END_OF_SENTENCE)  # number of sentences that end before a word
    unit = row[flat == END_OF_SENTENCE]
    words = flat >= 0
    ids = np.unique(flat[words], return_inverse=True)[1]
    sides: list[Words] = []
    for side in (~reference[words], reference[words]):
        sides.append(Words(ids[side], sentence[words][side], unit))
    return sides


def repeat_rows(stats: np.ndarray, weights: np.ndarray) -> Iterator[np.ndarray]:
    """Yield for each row of weights ``(W, B)`` the statistics ``(B, d)`` with every row repeated as often as it weighs."""
    rows = np.arange(len(stats))
    for row in np.asarray(weights):
        yield stats[np.repeat(rows, row.astype(int))]
