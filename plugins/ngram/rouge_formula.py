"""ROUGE-L of word lists, as the formulas read (Lin 2004, section 3), with the COCO toolkit's choices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BETA = 1.2
"""Recall weighs beta squared times as much as precision."""
Words = Sequence[str]


def lcs(a: Words, b: Words) -> int:
    """Length of the longest common subsequence.

    >>> lcs("a dog runs fast".split(), "the dog is fast".split())
    2
    """
    row = [0] * (len(b) + 1)
    for x in a:
        row = _next_row(row, x, b)
    return row[-1]


def _next_row(row: list[int], x: str, b: Words) -> list[int]:
    new = [0]
    for j, y in enumerate(b):
        new.append(row[j] + 1 if x == y else max(row[j + 1], new[j]))
    return new


def score(hyp: Words, refs: Sequence[Words]) -> float:
    """F of the largest precision and the largest recall over the references, which need not be of one reference."""
    found = [lcs(hyp, ref) for ref in refs]
    precision = max(length / len(hyp) for length in found)
    recall = max(length / len(ref) for length, ref in zip(found, refs))
    return float(f_score(np.array(precision), np.array(recall)))


def f_score(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """(...) (1 + b^2) P R / (R + b^2 P), and 0 where either is 0."""
    both = (precision != 0) & (recall != 0)
    below = np.where(both, recall + BETA**2 * precision, 1.0)
    return np.where(both, (1 + BETA**2) * precision * recall / below, 0.0)
