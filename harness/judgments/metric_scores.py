"""Scores of a metric for judged captions, and its agreement with people as a function of item weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from harness.contracts import Values

ItemStatistic = Callable[[np.ndarray], np.ndarray]
"""Map from item weights (W, items) to values (W,)."""


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
    """Map from captions (k,) and their weights (W, k) to the corpus number of these captions, shape (W,), higher is better."""
