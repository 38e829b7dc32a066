"""The triangle-rank metric over any registered distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import registry
from harness.contracts import Batch, Distance, Features, MeanMetric, MetricSpec, Warmable
from harness.errors import HarnessError, did_you_mean
from harness.plugins.trm import statistic

_POOLINGS = {"pooled": 4 / 3, "per-direction": 8 / 3}


class Trm(MeanMetric):
    """Mean triangle-rank statistic Q of the examples; lower is better, 0 when the distances see no difference.

    ``distance``: a registered distance (name, ``{name: {params}}`` or instance). ``pooling``: ``pooled`` (Chan et al. 2022,
    section 3.2) or ``per-direction`` (Liu & Modarres 2011). Undefined, and so skipped, without a triangle (1 + 1 texts).
    """

    def __init__(self, *, distance: str | Mapping[str, Any] | Distance = "meteor", pooling: str = "pooled") -> None:
        if pooling not in _POOLINGS:
            raise HarnessError(
                f"trm: unknown pooling {pooling!r}{did_you_mean(pooling, _POOLINGS)}; expected pooled or per-direction"
            )
        self.distance: Distance = registry.resolve("distances", distance)
        self.pooling: statistic.Pooling = pooling  # type: ignore[assignment]
        suffix = "" if pooling == "pooled" else f", {pooling}"
        self.spec = MetricSpec(
            name=f"trm({self.distance.name}{suffix})",
            higher_is_better=False,
            level="set",
            needs=frozenset({"references"}) | frozenset(getattr(self.distance, "needs", ())),
            min_texts=3,
            bounds=(0.0, _POOLINGS[pooling]),
        )

    def signature(self) -> str:
        return f"trm|{self.pooling}|{self.distance.signature()}"

    def warm(self) -> None:
        if isinstance(self.distance, Warmable):
            self.distance.warm()

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        return np.asarray(statistic.triangle_rank(features.distances(self.distance, batch), batch.n, self.pooling))

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        return statistic.relabeled(features.distances(self.distance, batch), batch.n, labels, self.pooling)

    def exact_p_values(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        return statistic.exact_p_values(features.distances(self.distance, batch), batch.n, self.pooling)
