"""Captions as words: what metrics collect that count n-grams over a whole corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Batch, CorpusMetric, Features, Objects
from harness_metrics.tokenisers.tokens import tokens_of
from harness_metrics.words.grams import Words


class CaptionWords(CorpusMetric):
    """Base class of metrics of the words of all captions;
    a subclass sets ``tokenizer`` and defines ``number``.

    The object of an example has the 63-bit hashes of its words, caption by caption with
    the candidates first (``words``), the number of words of each caption (``lengths``)
    and the number of candidates (``candidates``). Numbers are exact unless two words of
    the corpus have the same hash, which happens in one of 10**9 corpora with 10**5
    distinct words.
    """

    tokenizer = "ptb"
    """Name of the tokenizer."""

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the words of the captions of each example (see the class)."""
        return [
            words_object(features, ids, batch.n, self.tokenizer)
            for ids in batch.text_ids
        ]


def words_object(
    features: Features, ids: np.ndarray, n: int, tokenizer: str
) -> dict[str, np.ndarray]:
    """Return the words of the texts of one example, the ``n`` candidates first, as an
    object of :class:`CaptionWords`.
    """

    def compute(texts: list[str]) -> list[np.ndarray]:
        tokenized = tokens_of(features, features.intern(texts), tokenizer)
        return [
            np.array([word_hash(word) for word in text.split()], dtype=np.int64)
            for text in tokenized
        ]

    words = features.per_text(("word-hashes", tokenizer), ids, compute)
    return {
        "words": np.concatenate(words),
        "lengths": np.array(list(map(len, words))),
        "candidates": np.array([n]),
    }


def word_hash(word: str) -> int:
    """Return a hash of a word, an integer from 0 to 2**63 - 1, equal in every process.

    >>> word_hash("dog") == word_hash("dog"), 0 <= word_hash("dog") < 2**63
    (True, True)
    """
    data = word.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def sides_of(objects: Objects) -> tuple[Words, Words]:
    """Return the words of the candidates and of the references of B examples.

    Word ids are common to both sides. Sentences are numbered from 0 on each side; the
    unit of a sentence is its example.
    """
    ids = np.unique(objects.values("words"), return_inverse=True)[1]
    lengths = objects.values("lengths")
    example = objects.owners("lengths")
    position = np.arange(len(lengths)) - objects.starts("lengths")[example]
    is_candidate = position < objects.values("candidates")[example]

    sides: list[Words] = []
    for of_side in (is_candidate, ~is_candidate):
        number = np.cumsum(of_side) - 1
        of_word = np.repeat(of_side, lengths)
        sides.append(
            Words(ids[of_word], np.repeat(number, lengths)[of_word], example[of_side])
        )
    return sides[0], sides[1]
