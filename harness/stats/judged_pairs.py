"""Accuracy of a metric on judged pairs, with a policy for ties of the metric."""

from __future__ import annotations

from typing import Literal

import numpy as np

TiePolicy = Literal["half", "wrong", "skip", "epsilon"]
RELATIVE_TIE = 1e-7
"""Scores whose difference is at most this share of the larger one are tied: they differ by rounding in single precision, or by the
constants that keep quotients defined (BLEU of 3 in 6 words and of 4 in 8 words)."""


def differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return ``first - second``, same shape, with exact zeros where the scores differ by rounding alone; NaN stays NaN."""
    difference = first - second
    return np.where(np.abs(difference) <= RELATIVE_TIE * np.maximum(np.abs(first), np.abs(second)), 0.0, difference)


def correctness(
    difference: np.ndarray, preference: np.ndarray, ties: TiePolicy = "half", epsilon: float = 0.0
) -> np.ndarray:
    """Return the credit of a metric for each judged pair, same shape as ``difference``; NaN for a pair that does not count.

    Parameters
    ----------
    difference : ndarray
        Score of the first caption minus score of the second, higher is better, shape (P,) or (P, D).
    preference : ndarray
        Human preference, shape (P,): positive for the first caption, negative for the second, 0 for a tie.
    ties : {"half", "wrong", "skip", "epsilon"}
        Credit of a tie of the metric: 0.5, 0, or none (the pair does not count). Pairs with a human tie do not count, except with
        ``epsilon``: differences up to ``epsilon`` are ties, and a tie is correct where people tie too.
    epsilon : float
        Largest difference that is a tie, see :func:`calibrated_epsilon`.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023): pairwise accuracy with tie calibration.
    """
    human = preference if difference.ndim == 1 else preference[:, None]
    agree = np.where(difference * human > 0, 1.0, 0.0)
    if ties == "epsilon":
        credit = np.where(np.abs(difference) <= epsilon, np.where(human == 0, 1.0, 0.0), agree)
    else:
        credit = np.where(difference == 0, {"half": 0.5, "wrong": 0.0, "skip": np.nan}[ties], agree)
        credit = np.where(human == 0, np.nan, credit)
    return np.where(np.isnan(difference), np.nan, credit)


def calibrated_epsilon(difference: np.ndarray, preference: np.ndarray) -> float:
    """Return the smallest tie threshold with the highest accuracy of ``ties="epsilon"`` on the pairs.

    Parameters
    ----------
    difference, preference : ndarray
        As for :func:`correctness`, shape (P,); pairs with NaN are left out.
    """
    usable = ~np.isnan(difference)
    size, human = np.abs(difference[usable]), preference[usable]
    agree = difference[usable] * human > 0
    order = np.argsort(size, kind="stable")
    size, tie, agree = size[order], (human == 0)[order], agree[order]
    if len(size) == 0:
        return 0.0
    # Correct pairs when the first k + 1 differences are ties: human ties among them, and agreements beyond them.
    correct = np.cumsum(tie) + (agree.sum() - np.cumsum(agree))
    last = np.concatenate([size[1:] != size[:-1], [True]])
    best = int(np.argmax(np.where(last, correct, -1)))
    without = int(agree[size > 0].sum() + tie[size == 0].sum())
    return float(size[best]) if correct[best] > without else 0.0
