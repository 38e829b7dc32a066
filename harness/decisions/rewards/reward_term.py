"""A term of a reward: the weighted scores of captions by a metric, or the credits of
the captions of sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.contracts import (
    Batch,
    CreditsCandidates,
    Metric,
    ScoresCandidates,
    example_scores,
)
from harness.errors import InputError, counted
from harness.run.features import FeatureCache
from harness.run.score import fit_once, scorable


@dataclass(frozen=True)
class Term:
    """One metric of a reward."""

    label: str
    metric: Metric
    weight: float
    """Factor of the value of the metric; negative for a metric of which lower is
    better.
    """

    @property
    def is_of_sets(self) -> bool:
        """True for a metric of sets, whose captions get credits."""
        return self.metric.spec.level == "set"

    @property
    def reads_groups(self) -> bool:
        """True where :meth:`values` takes sets of several captions."""
        return self.is_of_sets or isinstance(self.metric, ScoresCandidates)

    def values(self, batch: Batch, features: FeatureCache) -> np.ndarray:
        """Return the weighted scores or credits of the captions of sets, shape (B,
        n); 0 where undefined.

        Raises :class:`InputError` for sets, or sets without one of their captions, that
        are too small for the metric.
        """
        self._check_sizes(batch)
        state = fit_once(self.metric, features)
        if isinstance(self.metric, ScoresCandidates):
            values = self.metric.candidate_scores(batch, features, state)
        elif isinstance(self.metric, CreditsCandidates):
            values = self.metric.credits(batch, features, state)
        elif self.is_of_sets:
            values = leave_each_out(self.metric, batch, features, state)
        else:
            stats = self.metric.stats(batch, features, state)
            values = example_scores(self.metric, stats)[:, None]
        return np.nan_to_num(values * self.weight)

    def _check_sizes(self, batch: Batch) -> None:
        """Raise :class:`InputError` for sets that are too small."""
        # A credit needs the set without one of its captions too.
        smallest = batch.n - self.is_of_sets
        sizes = np.asarray(smallest), np.asarray(batch.m)
        if smallest >= 1 and scorable(self.metric, *sizes):
            return
        captions = counted(batch.n, "caption")
        if self.is_of_sets:
            captions += " without one of them"
        references = counted(batch.m, "reference")
        spec = self.metric.spec
        fewest = f"{spec.min_candidates + self.is_of_sets} and {spec.min_references}"
        raise InputError(
            f"{self.label} has no value for {captions}, {references}; "
            f"expected at least {fewest}",
            f"example '{batch.ids[0]}'",
        )


def leave_each_out(
    metric: Metric, batch: Batch, features: FeatureCache, state: Any
) -> np.ndarray:
    """Return S(C) - S(C without i) for each candidate i, shape (B, n),
    by scoring every set without i again.
    """
    whole = example_scores(metric, metric.stats(batch, features, state))
    without: list[np.ndarray] = []
    for i in range(batch.n):
        smaller = [
            replace(item, candidates=item.candidates[:i] + item.candidates[i + 1 :])
            for item in batch.sets
        ]
        stats = metric.stats(features.batch(smaller), features, state)
        without.append(example_scores(metric, stats))
    return whole[:, None] - np.stack(without, axis=1)
