"""Metric ``best``: the best candidate of each example by another metric,
as an oracle would choose it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, Metric, MetricSpec
from harness.errors import HarnessError
from harness.registry import resolve
from harness_metrics.bases.inner_metric import FitsInner, untestable_by
from harness_metrics.bases.single_candidates import candidate_scores


class Best(FitsInner, MeanMetric):
    """Mean over examples of the best score of a single candidate;
    direction and range are those of the metric.

    Each candidate is scored as a set of one with all references. The value is never
    worse than the mean over candidates and improves with their number: compare equal
    sizes.

    Parameters
    ----------
    metric : str, mapping or Metric
        A metric of level ``item`` with a direction: ``meteor``, ``{bleu: {n: 4}}`` or
        an instance.

    Raises
    ------
    HarnessError
        If the metric has another level or no direction.
    """

    def __init__(self, *, metric: str | Mapping[str, Any] | Metric) -> None:
        self.inner: Metric = resolve("metrics", metric)
        inner = self.inner.spec
        if inner.level != "item" or inner.higher_is_better is None:
            raise HarnessError(
                f"best: '{inner.name}' does not score single candidates (expected a "
                "metric of level item with a direction)"
            )

        self.spec = MetricSpec(
            f"best({inner.name})",
            inner.higher_is_better,
            needs=inner.needs,
            min_references=inner.min_references,
            min_texts=inner.min_texts,
            bounds=inner.bounds,
            tolerance=inner.tolerance,
            resampled=inner.resampled,
            held_fixed=inner.held_fixed,
            untestable=untestable_by(self.inner),
            testable_from=inner.testable_from,
            depends_on=frozenset({"candidates"}) | (inner.depends_on or frozenset()),
        )

    def signature(self) -> str:
        """Return ``best|`` and the signature of the metric."""
        return f"best|{self.inner.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the best score of each example, shape (B,);
        NaN if no candidate of the example has a score.
        """
        of_candidates = candidate_scores(self.inner, batch, features, state)  # [n, B]

        # A candidate without a score never is the best; an example without any score
        # stays undefined.
        worst = -np.inf if self.spec.higher_is_better else np.inf
        filled = np.where(np.isnan(of_candidates), worst, of_candidates)
        best = filled.max(axis=0) if self.spec.higher_is_better else filled.min(axis=0)
        return np.where(np.isinf(best), np.nan, best)
