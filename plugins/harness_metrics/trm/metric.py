"""Metric ``trm``: the triangle-rank metric over any registered distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import Batch, Explanation, Features
from harness.errors import HarnessError, did_you_mean
from harness_metrics.sets.over_distance import DistanceMetric, DistanceSpec
from harness_metrics.trm import statistic
from harness_metrics.trm.triangles import RANKS, heaviest_triangle

_MAXIMA = {"pooled": 4 / 3, "per-direction": 8 / 3}
"""Largest value of Q by pooling."""


class Trm(DistanceMetric):
    """Mean triangle-rank statistic Q of the examples; lower is better, 0 when distances do not separate the samples.

    Q is in [0, 4/3], or [0, 8/3] per direction. Examples without a triangle (one candidate and one reference) are undefined.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    pooling : {'pooled', 'per-direction'}
        Triangles of both directions in one count (Chan et al.), or the sum of Q over the directions (Liu & Modarres).

    References
    ----------
    Chan et al. 2022, *Distribution Aware Metrics for Conditional Natural Language Generation*, section 3.2;
    Liu & Modarres 2011, *A triangle test for equality of distribution functions in high dimensions*.
    """

    def __init__(self, *, distance: DistanceSpec = "meteor", pooling: str = "pooled") -> None:
        if pooling not in _MAXIMA:
            raise HarnessError(f"trm: unknown pooling {pooling!r}{did_you_mean(pooling, _MAXIMA)}; expected pooled or per-direction")
        self.pooling: statistic.Pooling = pooling  # type: ignore[assignment]
        options = [] if pooling == "pooled" else [pooling]
        super().__init__("trm", distance, False, *options, min_texts=3, bounds=(0.0, _MAXIMA[pooling]))

    def signature(self) -> str:
        """Return ``trm|POOLING|`` and the signature of the distance."""
        return f"trm|{self.pooling}|{self.distance.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return Q of each example, shape (B,); NaN without a triangle."""
        return np.asarray(statistic.triangle_rank(features.distances(self.distance, batch), batch.n, self.pooling))

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return Q of each example under labels (P, N), shape (B, P)."""
        return statistic.relabel(features.distances(self.distance, batch), batch.n, labels, self.pooling)

    def exact_p_values(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return exact permutation p-values, shape (B,); NaN without a triangle."""
        return statistic.exact_p_values(features.distances(self.distance, batch), batch.n, self.pooling)

    def explain(self, batch: Batch, features: Features, state: Any) -> list[Explanation | None]:
        """Return the triangle of each example that weighs most, length B; None without a triangle."""
        return [_explanation(matrix, batch.n) for matrix in features.distances(self.distance, batch)]


def _explanation(distances: np.ndarray, n: int) -> Explanation | None:
    """Return the heaviest triangle of distances (N, N) in words."""
    triangle = heaviest_triangle(distances, n)
    if triangle is None:
        return None
    pair, opposite = ("candidates", "reference") if triangle.a < n else ("references", "candidate")
    relation = f"{RANKS[triangle.rank]} ({triangle.inner:.3f})"
    edges = f"({triangle.to_a:.3f} and {triangle.to_b:.3f})"
    middle = "with distances to the" if triangle.rank == 1 else "than to the"
    return Explanation(
        f"Heaviest triangle: two {pair} are {relation} {middle} {opposite} {edges}; {100 * triangle.share:.0f} % of the triangles "
        "are of this kind, 33 % by chance",
        ((triangle.a, "one of the pair"), (triangle.b, "one of the pair"), (triangle.x, "opposite")),
    )
