"""Scores of one metric for the judged captions, and its agreement with people as a
function of item weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from harness.contracts import Values
from harness.stats.ties import settle

COUNTS = ("items", "captions", "ratings")
"""Details of an agreement: numbers of items, distinct captions and ratings that count.
"""
UNEQUAL = "unequal"
"""Detail of an agreement: number of pairs, captions or systems that are left out
because their sets differ in size.
"""


ItemStatistic = Callable[[np.ndarray], np.ndarray]
"""Map from item weights (W, items) to values (W,)."""


def count_unequal(mask: np.ndarray) -> Values:
    """Return the number of rows of a mask (n,) as a detail; nothing for none."""
    return {UNEQUAL: int(mask.sum())} if mask.any() else {}


def mean_of(statistics: Sequence[ItemStatistic]) -> ItemStatistic:
    """Return the mean of statistics as a function of item weights."""

    def reduce(weights: np.ndarray) -> np.ndarray:
        return np.mean([statistic(weights) for statistic in statistics], axis=0)

    return reduce


@dataclass(frozen=True)
class Agreement:
    """One statistic of one metric in one group of judgments."""

    reduce: ItemStatistic
    n: int
    """Number of rated captions, ratings or pairs that count."""
    skipped: int = 0
    """Number of captions, ratings or pairs without a score."""
    details: Values = field(default_factory=Values)


@dataclass(frozen=True)
class MetricScores:
    """Oriented scores of a metric for the judged captions."""

    scores: np.ndarray
    """Higher is better, shape (captions, draws), NaN where undefined."""
    system_values: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """Map from captions (k,) and their weights (W, k) to the corpus number of these
    captions, shape (W,), higher is better.
    """
    sizes: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    """Set sizes on which the metric depends: name -> number of texts of each judged
    caption, int, shape (captions,).
    """
    of_pairs: np.ndarray | None = None
    """Preference of a metric that judges the captions of a pair together, as
    :attr:`JudgedPair.preference`, shape (P, draws).
    """
    ranked: np.ndarray | None = None
    """Scores as they rank the captions (:func:`harness.stats.ties.rank_scores`), shape
    (captions, draws); None: :attr:`scores`.
    """
    tolerance: float = 1e-7
    """Scores whose difference is at most this share of the larger one are tied
    (``MetricSpec.tolerance``).
    """

    @cached_property
    def settled(self) -> np.ndarray:
        """Scores for statistics of ranks: :attr:`ranked` with equal values for ties,
        shape (captions, draws).
        """
        scores = self.scores if self.ranked is None else self.ranked
        return settle(scores, self.tolerance)

    def compare_pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the preferences for the first captions of all pairs, positions of
        shape (P,), in each draw, shape (P, draws).

        They are the differences of the scores, exact zeros where these are ties, and
        NaN where one is undefined or the sets differ in a size on which the metric
        depends.
        """
        if self.of_pairs is not None:
            return self.of_pairs

        scores = self.scores if self.ranked is None else self.ranked
        a = scores[first]
        b = scores[second]
        is_tie = np.abs(a - b) <= self.tolerance * np.maximum(np.abs(a), np.abs(b))
        difference = np.where(is_tie, 0.0, a - b)
        return np.where(self.sizes_differ(first, second)[:, None], np.nan, difference)

    def sizes_differ(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return True for pairs of captions, positions of shape (P,), whose sets differ
        in a size on which the metric depends.
        """
        differ = np.zeros(len(first), dtype=bool)
        for counts in self.sizes.values():
            differ |= counts[first] != counts[second]
        return differ
