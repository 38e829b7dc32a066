"""Captions as rows of numbers: sufficient statistics of every metric that counts n-grams over a whole corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Batch, Features
from harness.plugins.crnrr.resampling import Words
from harness.plugins.tokenisers.tokens import tokens_of

END_OF_SENTENCE, END_OF_SIDE = -1.0, -2.0


class WordRows:
    """Base of metrics whose statistics are the captions themselves, as words.

    A row is the number of candidates, then for each candidate and, after a mark, for each reference its words as 52-bit hashes
    and an end mark. So rows of shards can be joined and weighted, and numbers are exact unless two words of the
    corpus share a hash (one corpus of 10**5 words in 10**6).
    """

    tokenizer = "ptb"

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        return None

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """(B, d) captions as numbers (see the class), rows padded with NaN at the end."""
        rows = []
        for ids in batch.text_ids:
            parts: list[Any] = [float(batch.n)]
            for k, words in enumerate(self._hashed(features, ids)):
                parts.extend((words, END_OF_SENTENCE) if k != batch.n - 1 else (words, END_OF_SENTENCE, END_OF_SIDE))
            rows.append(np.concatenate([np.atleast_1d(part) for part in parts]))
        out = np.full((len(rows), max(len(row) for row in rows)), np.nan)
        for target, row in zip(out, rows):
            target[: len(row)] = row
        return out

    def _hashed(self, features: Features, ids: np.ndarray) -> list[np.ndarray]:
        def compute(texts: list[str]) -> list[np.ndarray]:
            tokenized = tokens_of(features, features.intern(texts), self.tokenizer)
            return [np.array([word_hash(word) for word in text.split()], dtype=np.float64) for text in tokenized]

        return features.per_text(("word-hashes", self.tokenizer), ids, compute)


def word_hash(word: str) -> float:
    """A word as a whole number below 2**52, the same in every process.

    >>> word_hash("dog") == word_hash("dog"), 0 <= word_hash("dog") < 2**52
    (True, True)
    """
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> 12)


def parse(stats: np.ndarray) -> list[Words]:
    """Candidates and references of statistic rows, every sentence's unit its row."""
    body = stats[:, 1:]
    flat, row = body.ravel(), np.repeat(np.arange(len(body)), body.shape[1])
    kept = ~np.isnan(flat)
    flat, row = flat[kept], row[kept]
    after = np.cumsum(flat == END_OF_SIDE)
    reference = (
        after > np.concatenate([[0], np.cumsum(np.bincount(row[flat == END_OF_SIDE], minlength=len(body)))])[row]
    )
    sentence = np.cumsum(flat == END_OF_SENTENCE)  # of a word: how many sentences ended before it
    unit = row[flat == END_OF_SENTENCE]
    words = flat >= 0
    ids = np.unique(flat[words], return_inverse=True)[1]
    sides = []
    for chosen in (~reference[words], reference[words]):
        sides.append(Words(ids[chosen], sentence[words][chosen], unit))
    return sides
