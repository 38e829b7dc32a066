"""The functions behind the components of ``registry.yaml``."""

from __future__ import annotations

import math
import re
import zlib

import numpy as np

import harness

_WORD = re.compile(r"[^\W_]+")
_VOWELS = re.compile(r"[aeiouy]+")


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a text."""
    return _WORD.findall(text.lower())


def syllables(word: str) -> int:
    """Return the number of syllables of an English word by its groups of vowels;
    a final ``e`` is silent.

    >>> [syllables(word) for word in ("dog", "runs", "brown", "yellow", "umbrella")]
    [1, 1, 1, 2, 3]
    """
    groups = len(_VOWELS.findall(word.removesuffix("e")))
    return max(1, groups)


@harness.metric_function(higher_is_better=None)
def reading_ease(candidates: list[str]) -> float:
    """Flesch's reading ease (1948), 206.835 - 1.015 words - 84.6 syllables per word;
    NaN without words.
    """
    words = [words_of(text) for text in candidates]
    scores = [
        206.835 - 1.015 * len(row) - 84.6 * sum(map(syllables, row)) / len(row)
        for row in words
        if row
    ]
    return float(np.mean(scores)) if scores else math.nan


@harness.metric_function(higher_is_better=True, bounds=(0, 1))
def word_recall(
    candidates: list[str], references: list[str], best: bool = False
) -> float:
    """Share of the distinct words of all references that a candidate has: mean over the
    candidates, or the best; 0 to 1.

    Parameters
    ----------
    best : bool
        The best candidate in place of the mean.
    """
    expected = {word for text in references for word in words_of(text)}
    if not expected:
        return math.nan
    shares = [
        len(expected & set(words_of(text))) / len(expected) for text in candidates
    ]
    return max(shares) if best else float(np.mean(shares))


@harness.distance_function(symmetric=True)
def shared_words(a: str, b: str) -> float:
    """1 minus the Jaccard index of the words of two texts: 0 to 1;
    0 for two texts without words.
    """
    one = set(words_of(a))
    other = set(words_of(b))
    return len(one ^ other) / max(1, len(one | other))


@harness.embedding_function
def trigrams(texts: list[str], size: int = 128) -> np.ndarray:
    """Return counts of character trigrams by hash, shape (T, size).

    Parameters
    ----------
    size : int
        Length of a vector.
    """
    vectors = np.zeros((len(texts), size), dtype=np.float32)
    for row, text in zip(vectors, texts):
        padded = f"  {text.lower()} "
        for k in range(len(padded) - 2):
            row[zlib.crc32(padded[k : k + 3].encode()) % size] += 1
    return vectors
