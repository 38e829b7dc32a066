"""Metric ``trm``: the triangle-rank metric over any registered distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Cost, Explanation, Features
from harness.contracts.parameters import Count, check_arguments
from harness.errors import HarnessError
from harness.stats.seeds import derive
from harness_metrics.bases.metrics import DistanceMetric, DistanceSpec
from harness_metrics.trm import statistic
from harness_metrics.trm.statistic import Pooling, edge_ranks, statistic_of_counts

# --------------------------------------------------------------------------- drawn triangles
# Triangle-rank statistic of drawn triangles, for examples with too many texts to
# compare all of them.
#
# The triangles with two candidates and those with two references are two strata. The
# draws, with replacement, are divided between them as the triangles are (``pooled``),
# or equally (``per-direction``); T_r of a stratum is estimated by its size times the
# mean of the indicators of the rank r. The standard error comes from the linear part of
# the shares of T_r in these means.


Stratum = tuple[float, np.ndarray]
"""Number of triangles with two candidates, or with two references, and I_r of each
drawn one, shape (drawn, 3).
"""


def sampled_triangle_rank(
    distances: np.ndarray,
    n: int,
    pooling: Pooling,
    drawn: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return Q of drawn triangles, and its standard error;
    NaN and NaN without a triangle.

    Parameters
    ----------
    distances : ndarray, shape (N, N)
        Distances, rows the hypothesis; the n candidates come first.
    n : int
        Number of candidates.
    pooling : {'pooled', 'per-direction'}
        As for :func:`harness_metrics.trm.statistic.triangle_rank`.
    drawn : int
        Number of triangles to draw, at least 4.
    rng : Generator
        Source of the draws.
    """
    m = len(distances) - n
    sizes = np.array([n * (n - 1) * m, m * (m - 1) * n], dtype=np.float64)
    if not sizes.any():
        return float("nan"), float("nan")
    shares = (
        sizes / sizes.sum()
        if pooling == "pooled"
        else (sizes > 0) / np.count_nonzero(sizes)
    )
    samples = (0, n), (n, m)
    strata = [
        (
            size,
            _drawn_indicators(
                distances, pair, opposite, max(2, round(drawn * share)), rng
            )
            if size
            else np.zeros((2, 3)),
        )
        for pair, opposite, share, size in zip(samples, samples[::-1], shares, sizes)
    ]
    candidates, references = (
        size * indicators.mean(axis=0, keepdims=True) for size, indicators in strata
    )
    groups = (
        [strata]
        if pooling == "pooled"
        else [[stratum] for stratum in strata if stratum[0]]
    )
    return float(statistic_of_counts(candidates, references, pooling)[0]), float(
        np.sqrt(sum(map(_variance, groups)))
    )


def _variance(strata: Sequence[Stratum]) -> float:
    """Return the variance of Q of the triangles of some strata together,
    which is 2 max |share of T_r - 1/3|.
    """
    counts = np.sum(
        [size * indicators.mean(axis=0) for size, indicators in strata], axis=0
    )
    total = counts.sum()
    shares = counts / total
    variances = np.zeros(3)
    for size, indicators in strata:
        linear = (
            size * (indicators - indicators.sum(axis=1, keepdims=True) * shares) / total
        )
        variances += linear.var(axis=0, ddof=1) / len(indicators)
    # Any rank whose share may be the one that differs most from 1/3, within three
    # standard errors, can make the error.
    differences = np.abs(shares - 1 / 3)
    return 4 * float(
        variances[differences + 3 * np.sqrt(variances) >= differences.max()].max()
    )


def _drawn_indicators(
    distances: np.ndarray,
    pair: tuple[int, int],
    opposite: tuple[int, int],
    drawn: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return I_r of triangles drawn from one stratum, float64, shape (drawn, 3); a
    sample is its first text and its size.
    """
    (first, size), (start, count) = pair, opposite
    a = rng.integers(size, size=drawn)
    b = rng.integers(size - 1, size=drawn)
    x = rng.integers(count, size=drawn)
    b += b >= a  # uniform over the texts other than a
    a = a + first
    b = b + first
    x = x + start
    return np.column_stack(
        edge_ranks(distances[a, b], distances[x, a], distances[x, b])
    ).astype(np.float64)


# --------------------------------------------------------------------------- heaviest triangle
# The triangle of an example that weighs most in the triangle-rank statistic.


RANKS = ("closer to each other", "between the two distances", "farther apart")
"""Description of d_IN by its rank: smallest, middle, largest."""


@dataclass(frozen=True)
class Triangle:
    """Two texts of one sample and one of the other."""

    a: int
    b: int
    x: int
    rank: int
    """0, 1 or 2: d[a, b] is the smallest, the middle or the largest edge."""
    share: float
    """Share of the triangles of this rank; 1/3 where distances do not separate the
    samples.
    """
    inner: float
    to_a: float
    to_b: float


def heaviest_triangle(distances: np.ndarray, n_candidates: int) -> Triangle | None:
    """Return the triangle with the largest margin among those of the most frequent
    rank; None without a triangle.

    Parameters
    ----------
    distances : ndarray, shape (N, N)
        Distances, rows the hypothesis; the candidates come first.
    n_candidates : int
        Number of candidates n.

    Notes
    -----
    The margin of a triangle is the smallest change of d[a, b] that changes its rank.
    Triangles, edges and ranks are those of :mod:`harness_metrics.trm.statistic`.

    Examples
    --------
    >>> points = np.array([0.0, 0.1, 5.0, 5.2])
    >>> best = heaviest_triangle(abs(points[:, None] - points), 2)
    >>> best.rank, best.share, best.a, best.b, best.x
    (0, 1.0, 0, 1, 3)
    """
    size = len(distances)
    is_candidate = np.arange(size) < n_candidates
    a, b, x = np.ogrid[:size, :size, :size]
    valid = (
        (is_candidate[a] == is_candidate[b])
        & (is_candidate[x] != is_candidate[a])
        & (a != b)
    )
    if not valid.any():
        return None
    inner = distances[:, :, None]
    to_a = distances.T[:, None, :]
    to_b = distances.T[None, :, :]
    shorter = np.minimum(to_a, to_b)
    longer = np.maximum(to_a, to_b)
    members = (
        np.stack(
            [inner <= shorter, (shorter <= inner) & (inner <= longer), inner >= longer]
        )
        & valid
    )
    counts = members.sum(axis=(1, 2, 3))
    rank = int(np.argmax(counts))
    margins = (
        shorter - inner,
        np.minimum(inner - shorter, longer - inner),
        inner - longer,
    )[rank]
    i, j, k = np.unravel_index(
        np.argmax(np.where(members[rank], margins, -np.inf)), members[rank].shape
    )
    return Triangle(
        int(i),
        int(j),
        int(k),
        rank,
        float(counts[rank] / counts.sum()),
        float(distances[i, j]),
        float(distances[k, i]),
        float(distances[k, j]),
    )


# --------------------------------------------------------------------------- metric

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
        options = [
            *([] if pooling == "pooled" else [pooling]),
            *([f"sampled {drawn}"] if self.drawn else []),
        ]
        super().__init__(
            "trm",
            distance,
            False,
            *options,
            min_texts=3,
            bounds=(0.0, _MAXIMA[pooling]),
        )
        untestable = (
            "draws triangles (`triangles: all` has p-values)" if self.drawn else ""
        )
        self.spec = replace(self.spec, untestable=untestable, gamed_by="random strings")

    def signature(self) -> str:
        """Return ``trm|POOLING|``, the number of drawn triangles, if any, and the
        signature of the distance.
        """
        return "|".join(
            [
                "trm",
                self.pooling,
                *([f"drawn:{self.drawn}"] if self.drawn else []),
                self.distance.signature(),
            ]
        )

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the distances and of the triangles; a test
        ``per-direction`` has numbers of all three texts.
        """
        cost = super().cost(n, m, tokens)
        texts = n + m
        triangles = self.drawn or (texts**3 if tested else n * m * texts)
        table = 20.0 * texts**3 if tested and self.pooling == "per-direction" else 0.0
        fixed = table + (
            100.0 * self.drawn or min(9.0 * triangles, 9.0 * statistic.INDICATOR_BYTES)
        )
        advice = (
            cost.advice if self.drawn else "`triangles: sampled` or fewer candidates"
        )
        return replace(
            cost, seconds=cost.seconds + 1e-8 * triangles, fixed=fixed, advice=advice
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return Q of each example, shape (B, 1), and for drawn triangles its standard
        error, (B, 2); NaN without a triangle.
        """
        distances = features.distances(self.distance, batch)
        if not self.drawn:
            return np.asarray(
                statistic.triangle_rank(distances, batch.n, self.pooling)
            ).reshape(-1, 1)
        seeds = (derive(0, "triangles", name) for name in batch.ids)
        return np.array(
            [
                sampled_triangle_rank(
                    matrix,
                    batch.n,
                    self.pooling,
                    self.drawn,
                    np.random.default_rng(seed),
                )
                for matrix, seed in zip(distances, seeds)
            ]
        ).reshape(-1, 2)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the largest standard error of the number that is due to the draws;
        nothing for all triangles.

        It is the root mean square of those of the examples, and holds however much
        their errors have in common: the smallest values of Q, near the standard error,
        are all estimated too high.
        """
        return (
            {"sampling_error": float(np.sqrt(np.mean(stats[:, 1] ** 2)))}
            if self.drawn
            else {}
        )

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
    pair, opposite = (
        ("candidates", "reference") if triangle.a < n else ("references", "candidate")
    )
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
