"""Metrics ``spider`` and ``spider-max``: the mean of CIDEr-D and SPICE,
and the best candidate by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import (
    Batch,
    Features,
    MeanMetric,
    Metric,
    MetricSpec,
    example_scores,
    merge_states,
)
from harness.errors import HarnessError
from harness.registry import resolve
from harness_metrics.bases.inner_metric import untestable_by
from harness_metrics.best.metric import Best

MetricParam = str | Mapping[str, Any] | Metric


class Spider(MeanMetric):
    """Mean of CIDEr-D and SPICE of an example, in [0, 5.5]; higher is better.

    An example is undefined where one of the two is. ``details`` adds the means of both.

    Parameters
    ----------
    cider : str, mapping or Metric
        First metric: CIDEr-D, with its parameters.
    spice : str, mapping or Metric
        Second metric: SPICE, with its parameters.

    Raises
    ------
    HarnessError
        If one of them is not a metric of level ``item`` for which higher is better.
    MissingExtra
        Without the parts that SPICE needs.

    References
    ----------
    Liu et al. 2017, *Improved Image Captioning via Policy Gradient Optimization of
    SPIDEr*, equation 1.
    """

    def __init__(
        self, *, cider: MetricParam = "ciderd", spice: MetricParam = "spice"
    ) -> None:
        self.parts: list[Metric] = [
            resolve("metrics", cider),
            resolve("metrics", spice),
        ]
        for metric in self.parts:
            if metric.spec.level != "item" or metric.spec.higher_is_better is not True:
                raise HarnessError(
                    f"spider: '{metric.spec.name}' is no score of captions for which "
                    "higher is better"
                )

        first, second = (metric.spec.bounds for metric in self.parts)
        limits = None
        if first and second:
            limits = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2

        needs = frozenset[str]().union(*(metric.spec.needs for metric in self.parts))
        reasons = [untestable_by(metric) for metric in self.parts]
        untestable = next(filter(None, reasons), "")
        all_held_fixed = [metric.spec.held_fixed for metric in self.parts]
        held_fixed = next(filter(None, all_held_fixed), "")
        testable_from = max(metric.spec.testable_from for metric in self.parts)
        self.spec = MetricSpec(
            "spider",
            True,
            needs=needs,
            bounds=limits,
            untestable=untestable,
            held_fixed=held_fixed,
            testable_from=testable_from,
        )

    def signature(self) -> str:
        """Return ``spider|`` and the signatures of both metrics."""
        return "spider|" + "|".join(metric.signature() for metric in self.parts)

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> list[Any]:
        """Return the corpus states of both metrics."""
        return [metric.fit(references, features) for metric in self.parts]

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        """Return the corpus states of two shards together."""
        return [merge_states(*item) for item in zip(self.parts, first, second)]

    def stats(self, batch: Batch, features: Features, state: list[Any]) -> np.ndarray:
        """Return the mean and both scores of each example, shape (B, 3); NaN in the
        first column where one is undefined.
        """
        inner_states = zip(self.parts, state)
        columns = [
            example_scores(metric, metric.stats(batch, features, inner))
            for metric, inner in inner_states
        ]
        return np.stack([0.5 * (columns[0] + columns[1]), *columns], axis=1)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the means of both metrics from statistics (B, 3)."""
        if not len(stats):
            return {}
        names = [metric.spec.name for metric in self.parts]
        return dict(zip(names, stats[:, 1:].mean(axis=0).tolist()))


class SpiderMax(Best):
    """SPIDEr of the best candidate of each example, mean over examples, in [0,
    5.5]; higher is better.

    Parameters are those of :class:`Spider`.

    References
    ----------
    Labbe et al. 2022, *Is my automatic audio captioning system so bad? SPIDEr-max: a
    metric to consider several caption candidates*.
    """

    def __init__(
        self, *, cider: MetricParam = "ciderd", spice: MetricParam = "spice"
    ) -> None:
        super().__init__(metric=Spider(cider=cider, spice=spice))
        inner = self.inner.spec
        self.spec = replace(
            self.spec, name="spider-max", needs=inner.needs, bounds=inner.bounds
        )
