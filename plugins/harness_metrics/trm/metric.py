"""Metric ``trm``: the triangle-rank metric over any registered distance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Cost, Explanation, Features
from harness.contracts.parameters import Count, check_arguments
from harness.errors import HarnessError
from harness.stats.seeds import derive
from harness_metrics.bases.distance_metric import DistanceMetric, DistanceSpec
from harness_metrics.trm import statistic
from harness_metrics.trm.drawn_triangles import sampled_triangle_rank
from harness_metrics.trm.heaviest_triangle import RANKS, heaviest_triangle
from harness_metrics.trm.triangles import INDICATOR_BYTES

_MAXIMA = {"pooled": 4 / 3, "per-direction": 8 / 3}
"""Largest value of Q by pooling."""


class Trm(DistanceMetric):
    """Mean triangle-rank statistic Q of the examples; lower is better, 0 when distances
    do not separate the samples.

    Q is in [0, 4/3], or [0, 8/3] per direction. Examples without a triangle (one
    candidate and one reference) are undefined.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    pooling : {'pooled', 'per-direction'}
        Triangles of both directions in one count (Chan et al.), or the sum of Q over
        the directions (Liu & Modarres).
    triangles : {'all', 'sampled'}
        All triangles of an example, or ``drawn`` of them, drawn by a seed of the
        example's id. Sampled, there are no p-values; the interval includes the draws,
        and the result has their standard error.
    drawn : int
        Number of triangles that are drawn of each example; not used for ``all``.

    References
    ----------
    Chan et al. 2022, *Distribution Aware Metrics for Conditional Natural Language
    Generation*, section 3.2; Liu & Modarres 2011, *A triangle test for equality of
    distribution functions in high dimensions*.
    """

    @check_arguments
    def __init__(
        self,
        *,
        distance: DistanceSpec = "meteor",
        pooling: statistic.Pooling = "pooled",
        triangles: Literal["all", "sampled"] = "all",
        drawn: Count = 100_000,
    ) -> None:
        self.pooling: statistic.Pooling = pooling
        self.drawn = drawn if triangles == "sampled" else 0

        options: list[str] = []
        if pooling != "pooled":
            options.append(pooling)
        if self.drawn:
            options.append(f"sampled {drawn}")
        super().__init__(
            "trm",
            distance,
            False,
            *options,
            min_texts=3,
            bounds=(0.0, _MAXIMA[pooling]),
        )

        untestable = ""
        if self.drawn:
            untestable = "draws triangles (`triangles: all` has p-values)"
        self.spec = replace(self.spec, untestable=untestable, gamed_by="random strings")

    def signature(self) -> str:
        """Return ``trm|POOLING|``, the number of drawn triangles, if any, and the
        signature of the distance.
        """
        fields = ["trm", self.pooling]
        if self.drawn:
            fields.append(f"drawn:{self.drawn}")
        return "|".join([*fields, self.distance.signature()])

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the distances and of the triangles; a test
        ``per-direction`` has numbers of all three texts.
        """
        cost = super().cost(n, m, tokens)
        texts = n + m

        # A test needs the triangles of all texts; the observed statistic those with a
        # text of each sample.
        triangles = self.drawn or (texts**3 if tested else n * m * texts)
        fixed = 100.0 * self.drawn or min(9.0 * triangles, 9.0 * INDICATOR_BYTES)
        if tested and self.pooling == "per-direction":
            fixed += 20.0 * texts**3  # numbers of all triples

        advice = cost.advice
        if not self.drawn:
            advice = "`triangles: sampled` or fewer candidates"
        return replace(
            cost, seconds=cost.seconds + 1e-8 * triangles, fixed=fixed, advice=advice
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return Q of each example, shape (B, 1), and for drawn triangles its standard
        error, (B, 2); NaN without a triangle.
        """
        distances = features.distances(self.distance, batch)
        if not self.drawn:
            q = statistic.triangle_rank(distances, batch.n, self.pooling)
            return np.asarray(q).reshape(-1, 1)

        out = np.empty((len(batch), 2))
        for row, (matrix, name) in enumerate(zip(distances, batch.ids)):
            # The seed is that of the example: its draws do not depend on the batch.
            rng = np.random.default_rng(derive(0, "triangles", name))
            out[row] = sampled_triangle_rank(
                matrix, batch.n, self.pooling, self.drawn, rng
            )
        return out

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the largest standard error of the number that is due to the draws;
        nothing for all triangles.

        It is the root mean square of those of the examples, and holds however much
        their errors have in common: the smallest values of Q, near the standard error,
        are all estimated too high.
        """
        if not self.drawn:
            return {}
        return {"sampling_error": float(np.sqrt(np.mean(stats[:, 1] ** 2)))}

    def credits(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return Q(C, R) - Q(C without i, R), shape (B, n); raise :class:`HarnessError`
        for drawn triangles, whose errors would differ.
        """
        if self.drawn:
            raise HarnessError(
                "trm: triangles are drawn; a reward needs triangles=all",
                parameter="triangles",
            )
        return statistic.leave_one_out_credits(
            features.distances(self.distance, batch), batch.n, self.pooling
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return Q of each example under labels (P, N), shape (B, P)."""
        return statistic.relabel(
            features.distances(self.distance, batch), batch.n, labels, self.pooling
        )

    def exact_p_values(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return exact permutation p-values, shape (B,); NaN without a triangle."""
        return statistic.exact_p_values(
            features.distances(self.distance, batch), batch.n, self.pooling
        )

    def explain(
        self, batch: Batch, features: Features, state: Any
    ) -> list[Explanation | None]:
        """Return the triangle of each example that weighs most, length B;
        None without a triangle.
        """
        return [
            _explanation(matrix, batch.n)
            for matrix in features.distances(self.distance, batch)
        ]


def _explanation(distances: np.ndarray, n: int) -> Explanation | None:
    """Return the heaviest triangle of distances (N, N) in words."""
    triangle = heaviest_triangle(distances, n)
    if triangle is None:
        return None

    pair, opposite = "references", "candidate"
    if triangle.a < n:
        pair, opposite = "candidates", "reference"
    relation = f"{RANKS[triangle.rank]} ({triangle.inner:.3f})"
    edges = f"({triangle.to_a:.3f} and {triangle.to_b:.3f})"
    middle = "with distances to the" if triangle.rank == 1 else "than to the"

    return Explanation(
        f"Heaviest triangle: two {pair} are {relation} {middle} {opposite} {edges}; "
        f"{100 * triangle.share:.0f} % of the triangles "
        "are of this kind, 33 % by chance",
        (
            (triangle.a, "one of the pair"),
            (triangle.b, "one of the pair"),
            (triangle.x, "opposite"),
        ),
    )
