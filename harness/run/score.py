"""Scores of one metric on the caption sets of one model and decoding: statistics, p-values, interval.

Sets are batched by shape; rows come back in the order of the examples, so that neither batching nor sharding shows in a
digit. A row whose first statistic is NaN is undefined: counted, listed, left out of the number, never scored as 0.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.contracts import Batch, CaptionSet, ExactTestable, Features, Metric, Testable
from harness.run.garbage_collection import rare_collections
from harness.stats import bootstrap

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec

BATCH = 512
_PAIRS = 1 << 18


@dataclass(frozen=True)
class Scored:
    """Per-example outcome of one metric, in the order of the examples that have candidates."""

    stats: np.ndarray
    """(B, d) sufficient statistics; undefined rows hold NaN in column 0."""
    p_values: np.ndarray | None
    """(B,) permutation p-values, NaN where undefined."""
    p_method: str
    p_floor: float
    """Smallest p-value the largest design could give."""
    seconds: float

    @property
    def defined(self) -> np.ndarray:
        """(B,) bool."""
        return ~np.isnan(self.stats[:, 0]) if self.stats.size else np.zeros(len(self.stats), dtype=bool)


@rare_collections()
def batches(sets: Sequence[CaptionSet], features: Features, size: int | None = BATCH) -> list[tuple[np.ndarray, Batch]]:
    """Batches of one (n, m) shape with the positions of their sets: ``size`` examples each, or, where it is None, more of them the
    fewer texts they have (nothing wider than N x N numbers an example must then be computed of them: no p-values)."""
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, item in enumerate(sets):
        by_shape[len(item.candidates), len(item.references)].append(position)
    out = []
    for shape in sorted(by_shape):
        positions = by_shape[shape]
        step = size or max(BATCH, _PAIRS // sum(shape) ** 2)
        for start in range(0, len(positions), step):
            chosen = positions[start : start + step]
            out.append((np.asarray(chosen), features.batch([sets[i] for i in chosen])))
    return out


def nested(
    whole: Sequence[tuple[np.ndarray, Batch]], features: Features, n: int | None, m: int | None
) -> list[tuple[np.ndarray, Batch]]:
    """The same batches cut to the first n candidates and m references (None: all)."""
    out = []
    for positions, batch in whole:
        cut = features.sub_batch(batch, min(n or batch.n, batch.n), min(m or batch.m, batch.m))
        out.append((positions, cut))
    return out


def can_score(metric: Metric, batch: Batch) -> bool:
    """Whether the shape is large enough for the metric."""
    spec = metric.spec
    return batch.n >= spec.min_candidates and batch.m >= spec.min_references and batch.n + batch.m >= spec.min_texts


def fitted(metric: Metric, features: Features) -> Any:
    """The metric's corpus state, made once per run."""
    return features.memo(("state", metric.signature()), lambda: metric.fit(features.references, features))


@rare_collections()
def score(
    metric: Metric,
    parts: Sequence[tuple[np.ndarray, Batch]],
    features: Features,
    significance: SignificanceSpec | None,
    seed: int,
    advance: Callable[[int], None] = lambda n: None,
) -> Scored:
    """Statistics and p-values of a metric on all batches."""
    started = time.perf_counter()
    total = sum(len(batch) for _, batch in parts)
    state = fitted(metric, features)
    rows: dict[int, np.ndarray] = {}
    wanted = (
        significance is not None and significance.method != "none" and isinstance(metric, (Testable, ExactTestable))
    )
    p_values = np.full(total, np.nan) if wanted else None
    methods: set[str] = set()
    floor = 1.0
    for positions, batch in parts:
        if can_score(metric, batch):
            stats = np.asarray(metric.stats(batch, features, state), dtype=np.float64)
            if stats.ndim != 2 or len(stats) != len(batch):
                raise ValueError(
                    f"metric '{metric.spec.name}' returned statistics of shape {stats.shape} for {len(batch)} examples"
                )
            rows.update(zip(positions.tolist(), stats))
            if p_values is not None and significance is not None:
                tested = _p_values(metric, batch, features, state, stats, significance, seed)
                p_values[positions] = tested.values
                methods.add(tested.method)
                floor = min(floor, tested.floor)
        advance(len(batch))
    width = max((len(row) for row in rows.values()), default=1)
    stats = np.full((total, width), np.nan)  # rows of batches may differ in length: NaN at the end
    for position, row in rows.items():
        stats[position, : len(row)] = row
    return Scored(stats, p_values, " + ".join(sorted(methods)), floor, time.perf_counter() - started)


def _p_values(
    metric: Metric, batch: Batch, features: Features, state: Any, stats: np.ndarray, spec: SignificanceSpec, seed: int
) -> Any:
    from harness.stats.significance import metric_p_values

    assert spec.method != "none"

    return metric_p_values(
        metric, batch, features, state, metric.per_example(stats),
        method=spec.method, budget=spec.budget, draws=spec.draws, seed=seed,
    )  # fmt: skip


def value_and_interval(
    metric: Metric, stats: np.ndarray, samples: int, seed: int
) -> tuple[float, tuple[float, float] | None]:
    """The corpus number of the defined rows and its bootstrap 95 % interval (None without samples or for one example)."""
    if len(stats) == 0:
        return float("nan"), None
    value = float(metric.reduce(stats))
    if samples == 0 or len(stats) < 2 or not metric.spec.shardable:
        return value, None
    values = bootstrap.distribution(lambda w: metric.reduce(stats, w), len(stats), samples, seed)
    values = values[~np.isnan(values)]
    return value, (bootstrap.interval(values) if len(values) else None)


def combined(p_values: np.ndarray | None, fdr: float) -> dict[str, Any]:
    """Per-example p-values put together: harmonic mean, its log, the combined tests, counts below levels."""
    if p_values is None:
        return {}
    from harness.stats import combine

    p = p_values[~np.isnan(p_values)]
    if len(p) == 0:
        return {}
    harmonic = float(combine.harmonic_mean_p(p))
    rejected = combine.benjamini_hochberg(p, fdr)
    return {
        "harmonic_mean": harmonic,
        "log": float(np.log(harmonic)),
        "harmonic_mean_test": float(combine.harmonic_mean_test(p)),
        "fisher": float(combine.fisher(p)),
        "discoveries": rejected.count,
        "fdr": fdr,
        "n": len(p),
    }
