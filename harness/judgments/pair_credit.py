"""Credit of a metric for judged pairs: pairwise accuracy under a policy for ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.contracts import Values
from harness.judgments.metric_scores import Agreement, MetricScores, count_unequal
from harness.judgments.rows import ALL, JudgmentRows

TiePolicy = Literal["half", "wrong", "skip", "epsilon"]
"""Treatment of ties of a metric (:func:`correctness`)."""


@dataclass(frozen=True)
class PairCredit:
    """Credit of a metric for each judged pair, the mean over draws."""

    rows: JudgmentRows
    credit: np.ndarray
    """Shape (P,), NaN for a pair that does not count."""
    unscored: np.ndarray
    """Mask of the pairs without a score, shape (P,), among them those of
    :attr:`unequal`.
    """
    unequal: np.ndarray
    """Mask of the pairs whose sets differ in a size on which the metric depends, shape
    (P,): neither is the better one.
    """
    tied: np.ndarray
    """Share of the draws in which the metric has a tie, shape (P,)."""
    details: Values

    @classmethod
    def of(cls, rows: JudgmentRows, metric: MetricScores) -> PairCredit:
        """Return the credit of a metric under the task's tie policy."""
        pairs = rows.pairs
        ties = rows.spec.ties
        difference = metric.compare_pairs(pairs.first, pairs.second)
        details: Values = {}
        epsilon = 0.0
        if ties == "epsilon":
            # One threshold for all draws.
            human = np.repeat(pairs.human, difference.shape[1])
            epsilon = calibrated_epsilon(difference.ravel(), human)
            details["epsilon"] = epsilon

        credit = correctness(difference, pairs.human, ties, epsilon)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(credit, axis=1) / (~np.isnan(credit)).sum(axis=1)
        # A pair counts where it has a score in every draw.
        unscored = np.asarray(np.isnan(difference).any(axis=1))
        tied = (np.abs(difference) <= epsilon).mean(axis=1)
        counted = np.where(unscored, np.nan, mean)
        unequal = metric.sizes_differ(pairs.first, pairs.second)
        return cls(rows, counted, unscored, unequal, tied, details)

    def mask(self, group: str) -> np.ndarray:
        """Return the mask of the pairs of a group, bool, shape (P,)."""
        if group == ALL:
            return np.ones(len(self.credit), dtype=bool)
        return self.rows.pairs.groups == group

    def agreement(self, mask: np.ndarray) -> Agreement:
        """Return the accuracy over the pairs of a mask."""
        counted = mask & ~np.isnan(self.credit)
        pairs = self.rows.pairs
        items = pairs.item[counted]
        sums = np.bincount(items, self.credit[counted], minlength=self.rows.items)
        counts = np.bincount(items, minlength=self.rows.items)

        def reduce(weights: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                return (weights @ sums) / (weights @ counts)

        judged = self.tied[mask & ~self.unscored & (pairs.human != 0)]
        captions = np.concatenate([pairs.first[counted], pairs.second[counted]])
        details = {
            **self.details,
            "ties": float(judged.mean()) if len(judged) else 0.0,
            **self.rows.counts(captions),
            **count_unequal(mask & self.unequal),
        }
        return Agreement(
            reduce, int(counted.sum()), int((mask & self.unscored).sum()), details
        )


def correctness(
    difference: np.ndarray,
    preference: np.ndarray,
    ties: TiePolicy = "half",
    epsilon: float = 0.0,
) -> np.ndarray:
    """Return the credit of a metric for each judged pair, same shape as ``difference``;
    NaN for a pair that does not count.

    Parameters
    ----------
    difference : ndarray
        Score of the first caption minus score of the second, higher is better, shape
        (P,) or (P, D).
    preference : ndarray
        Human preference, shape (P,): positive for the first caption, negative for the
        second, 0 for a tie.
    ties : {"half", "wrong", "skip", "epsilon"}
        Credit of a tie of the metric: 0.5, 0, or none (the pair does not count). Pairs
        with a human tie do not count, except with ``epsilon``: differences up to
        ``epsilon`` are ties, and a tie is correct where people tie too.
    epsilon : float
        Largest difference that is a tie, see :func:`calibrated_epsilon`.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties Matter" (EMNLP 2023): pairwise accuracy with tie
    calibration.
    """
    human = preference if difference.ndim == 1 else preference[:, None]
    agree = np.where(difference * human > 0, 1.0, 0.0)
    if ties == "epsilon":
        of_tie = np.where(human == 0, 1.0, 0.0)
        credit = np.where(np.abs(difference) <= epsilon, of_tie, agree)
    else:
        of_tie = {"half": 0.5, "wrong": 0.0, "skip": np.nan}[ties]
        credit = np.where(difference == 0, of_tie, agree)
        credit = np.where(human == 0, np.nan, credit)
    return np.where(np.isnan(difference), np.nan, credit)


def calibrated_epsilon(difference: np.ndarray, preference: np.ndarray) -> float:
    """Return the smallest tie threshold with the highest accuracy of ``ties="epsilon"``
    on the pairs.

    Parameters
    ----------
    difference, preference : ndarray
        As for :func:`correctness`, shape (P,); pairs with NaN are left out.
    """
    usable = ~np.isnan(difference)
    size = np.abs(difference[usable])
    human = preference[usable]
    agree = difference[usable] * human > 0

    order = np.argsort(size, kind="stable")
    size = size[order]
    tie = (human == 0)[order]
    agree = agree[order]
    if len(size) == 0:
        return 0.0

    # Correct pairs when the first k + 1 differences are ties: human ties among them,
    # and agreements beyond them.
    correct = np.cumsum(tie) + (agree.sum() - np.cumsum(agree))
    # A threshold takes all differences of its size.
    last = np.concatenate([size[1:] != size[:-1], [True]])
    best = int(np.argmax(np.where(last, correct, -1)))
    return float(size[best]) if correct[best] > agree.sum() else 0.0
