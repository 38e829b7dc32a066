"""ROUGE-L of word lists as the formulas read (Lin 2004, section 3), with the COCO caption toolkit's choices.

The readable reference of :mod:`harness.plugins.ngram.rouge_kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BETA = 1.2
"""Weight of recall: beta squared times that of precision."""
Words = Sequence[str]


def lcs(a: Words, b: Words) -> int:
    """Return the length of the longest common subsequence of two word lists.

    >>> lcs("a dog runs fast".split(), "the dog is fast".split())
    2
    """
    row = [0] * (len(b) + 1)
    for x in a:
        row = _next_row(row, x, b)
    return row[-1]


def _next_row(row: list[int], x: str, b: Words) -> list[int]:
    """Return the next row of the table of lengths, from the row before and the next word ``x``."""
    new = [0]
    for j, y in enumerate(b):
        new.append(row[j] + 1 if x == y else max(row[j + 1], new[j]))
    return new


def score(hyp: Words, refs: Sequence[Words]) -> float:
    """Return ROUGE-L of a hypothesis against its references, in [0, 1].

    Precision and recall are maxima over references, possibly of different ones.

    >>> round(score("a dog runs".split(), ["a dog".split(), "the dog runs fast".split()]), 6)
    0.829932
    """
    lengths = [lcs(hyp, ref) for ref in refs]
    precision = max(length / len(hyp) for length in lengths)
    recall = max(length / len(ref) for length, ref in zip(lengths, refs))
    return float(f_score(np.array(precision), np.array(recall)))


def f_score(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return elementwise, for arrays of one shape, (1 + b^2) P R / (R + b^2 P), and 0 where P or R is 0.

    Parameters
    ----------
    precision, recall : ndarray
        Shape (...), in [0, 1].

    Returns
    -------
    ndarray
        Shape (...), in [0, 1].

    Examples
    --------
    >>> f_score(np.array([1.0, 0.0]), np.array([0.5, 1.0])).round(4).tolist()
    [0.6289, 0.0]
    """
    both = (precision != 0) & (recall != 0)
    below = np.where(both, recall + BETA**2 * precision, 1.0)
    return np.where(both, (1 + BETA**2) * precision * recall / below, 0.0)
