"""Metrics ``mauve`` (of the whole corpus) and ``mauve-example`` (of each example), over
any registered embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.contracts import Batch, CorpusMetric, Features, Level, Objects
from harness.errors import HarnessError
from harness_metrics.bases.metrics import (
    EmbeddingMetric,
    EmbeddingSpec,
    RelabeledMetric,
)
from harness_metrics.mauve import frontier, quantise
from harness_metrics.sets.corpus_vectors import collect_vectors, drop_unused_dimensions

# --------------------------------------------------------------------------- statistic
# MAUVE of two samples of vectors, of many small samples, and under relabelings; its
# spread over seeds and numbers of buckets.


MOST_BUCKETS = 500
"""Upper limit of the automatic number of buckets: n / 10 for the 5000 texts per side of
the authors' experiments.
"""


class Spread(NamedTuple):
    """Values of MAUVE for other seeds and numbers of buckets."""

    seeds: np.ndarray
    """Values by k-means seed, shape (S,)."""
    by_buckets: dict[int, float]
    """Value by number of buckets, for the first seed."""

    @property
    def sd(self) -> float:
        """Standard deviation over seeds, with divisor S - 1; NaN for one seed."""
        return float(self.seeds.std(ddof=1)) if len(self.seeds) > 1 else float("nan")


def automatic_buckets(n: int, m: int) -> int:
    """Return a tenth of the smaller sample size, at least 2 and at most 500.

    >>> automatic_buckets(300, 90)
    9
    """
    return max(2, min(MOST_BUCKETS, round(min(n, m) / 10)))


def spread(
    x: np.ndarray,
    y: np.ndarray,
    k: int | None = None,
    *,
    seeds: Sequence[int],
    factors: Sequence[float] = (0.5, 2.0),
    redo: int = 5,
    scaling: float = frontier.SCALING,
) -> Spread:
    """Return MAUVE of x (n, d) and y (m, d) for several seeds, and for ``k`` times each
    factor buckets with the first seed.

    Parameters
    ----------
    x, y : ndarray, shapes (n, d) and (m, d)
        Vectors of the samples.
    k : int, optional
        Number of buckets. The default is :func:`automatic_buckets`.
    seeds : sequence of int
        Seeds of k-means.
    factors : sequence of float
        Factors of the number of buckets.
    redo : int
        Number of random starts of k-means.
    scaling : float
        The constant c of the paper (Pillutla et al. 2021, section 2).
    """
    k = automatic_buckets(len(x), len(y)) if k is None else k
    points = quantise.reduce_dimensions(np.concatenate([x, y]))

    def value(buckets: int, seed: int) -> float:
        labels = points.in_order_of_vectors(
            quantise.clusters(points.coordinates, buckets, seed=seed, redo=redo)
        )
        return float(_area(labels, len(x), scaling))

    others = sorted({max(2, round(k * factor)) for factor in factors} - {k})
    return Spread(
        np.array([value(k, seed) for seed in seeds]),
        {buckets_beside: value(buckets_beside, seeds[0]) for buckets_beside in others},
    )


def _area(labels: np.ndarray, n: int, scaling: float) -> np.ndarray:
    """Return MAUVE, shape (), of buckets (N,), the n candidates first."""
    width = int(labels.max()) + 1
    p, q = (
        np.bincount(side, minlength=width) / len(side)
        for side in (labels[:n], labels[n:])
    )
    return frontier.area(p, q, scaling)


# --------------------------------------------------------------------------- per example
def relabel(
    vectors: np.ndarray,
    labels: np.ndarray,
    k: int,
    *,
    seed: int,
    redo: int,
    scaling: float = frontier.SCALING,
) -> np.ndarray:
    """Return MAUVE of sets of vectors (B, N, d) under labels (P, N), bool,
    shape (B, P).

    All rows of ``labels`` have the same number of candidates. The buckets do not depend
    on the labels: a relabeling changes only the histograms, and relabelings with the
    same histogram are evaluated once.
    """
    buckets = quantise.many_buckets(vectors, k, seed=seed, redo=redo)
    is_candidate = np.asarray(labels, dtype=np.float64)
    n = int(is_candidate[0].sum())
    size = labels.shape[1]
    pairs = list[np.ndarray]()
    positions = list[np.ndarray]()
    for one_hot in buckets[:, :, None] == np.arange(k):
        # A relabeling enters by its histogram alone. With few buckets there are far
        # fewer histograms than relabelings, and each is evaluated once, for all
        # examples; a histogram in base N + 1 is one integer, which sorts faster than
        # rows.
        first = np.rint(is_candidate @ one_hot).astype(np.int64)  # [P, k]
        distinct, position = _distinct_rows(first, size)
        positions.append(position + sum(map(len, pairs)))
        pairs.append(np.concatenate([distinct, one_hot.sum(axis=0) - distinct], axis=1))
    histograms, position = _distinct_rows(np.concatenate(pairs), size)
    areas = frontier.area(
        histograms[:, :k] / n, histograms[:, k:] / (size - n), scaling
    )
    return areas[position[np.stack(positions)]]


def _distinct_rows(counts: np.ndarray, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of counts (R, k), whole numbers from 0 to ``largest``,
    and the position of each row among them, (R,).
    """
    if (largest + 1.0) ** counts.shape[1] < 2**62:
        codes = counts @ (largest + 1) ** np.arange(counts.shape[1], dtype=np.int64)
        _, first, position = np.unique(codes, return_index=True, return_inverse=True)
        return counts[first], position.ravel()
    distinct, position = np.unique(counts, axis=0, return_inverse=True)
    return distinct, position.ravel()


# --------------------------------------------------------------------------- metrics

_SPREAD_SEEDS = 5


class MauveParameters(EmbeddingMetric):
    """Parameters, spec and signature of both metrics.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int or 'auto'
        Number of buckets, at least 2; ``auto`` is a tenth of the smaller sample, from 2
        to 500.
    seed, redo : int
        Seed and number of random starts of k-means (at least 1).
    scaling : float
        The constant c of the paper.
    """

    name = "mauve"
    level: Level = "corpus"

    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        k: int | str = "auto",
        seed: int = 25,
        redo: int = 5,
        scaling: float = frontier.SCALING,
    ) -> None:
        self.k = _buckets(k)
        self.seed = seed
        self.redo = redo
        self.scaling = scaling
        if redo < 1:
            raise HarnessError(
                f"mauve: redo is {redo!r}; expected at least 1 start of k-means"
            )
        super().__init__(
            self.name,
            embedding,
            True,
            level=self.level,
            bounds=(0.0, 1.0),
            resampled=self.level != "corpus",
            settings=(f"k:{k}", f"c:{scaling:g}", f"redo:{redo}", f"seed:{seed}"),
        )


def _buckets(k: int | str) -> int | None:
    """Return the number of buckets, None for ``auto``;
    raise :class:`HarnessError` for other values.
    """
    if k == "auto":
        return None
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise HarnessError(
            f"mauve: k is {k!r}; expected 'auto' or an integer of at least 2"
        )
    return k


class Mauve(MauveParameters, CorpusMetric):
    """MAUVE between all candidates and all references of the corpus;
    higher is better, in (0, 1].

    The number is not a mean over examples, because the buckets depend on all texts
    together. Therefore it has no score, interval or p-value per example
    (:class:`MauvePerExample` has).

    Parameters are those of :class:`MauveParameters`.

    References
    ----------
    Pillutla et al. 2021, *MAUVE: Measuring the Gap Between Neural Text and Human Text
    using Divergence Frontiers*, section 2.
    """

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the vectors of each example: float32 arrays of candidates (n, d) and
        references (m, d).
        """
        return collect_vectors(
            features.vectors(self.embedding, batch.text_ids), batch.n
        )

    def number(self, objects: Objects) -> float:
        """Return MAUVE of the corpus."""
        return float(self.numbers(objects, np.ones((1, len(objects))))[0])

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return MAUVE (W,) for ``weights`` of shape (W, B), which multiply the counts
        of an example's texts in the histograms.
        """
        sides = ("candidates", "references")
        owners = [objects.owners(side) for side in sides]
        k = self.k or automatic_buckets(len(owners[0]), len(owners[1]))
        (vectors,) = drop_unused_dimensions(
            np.concatenate([objects.values(side) for side in sides])
        )
        labels = quantise.buckets(vectors, k, seed=self.seed, redo=self.redo)
        histograms: list[np.ndarray] = []
        for examples, buckets in zip(owners, np.split(labels, [len(owners[0])])):
            counts = np.zeros((len(objects), int(labels.max()) + 1))
            np.add.at(counts, (examples, buckets), 1.0)
            weighted = weights @ counts
            histograms.append(weighted / weighted.sum(axis=1, keepdims=True))
        return frontier.area(histograms[0], histograms[1], self.scaling)

    def details(self, stats: Objects) -> dict[str, object]:
        """Return values for five k-means seeds, their standard deviation, and the
        values for half and twice the buckets.
        """
        if not len(stats):
            return {}
        candidates, references = drop_unused_dimensions(
            stats.values("candidates"), stats.values("references")
        )
        spread_values = spread(
            candidates,
            references,
            self.k,
            redo=self.redo,
            scaling=self.scaling,
            seeds=range(self.seed, self.seed + _SPREAD_SEEDS),
        )
        return {
            "sd_over_seeds": spread_values.sd,
            "values_by_seed": spread_values.seeds.tolist(),
            "values_by_k": {
                str(k): value for k, value in spread_values.by_buckets.items()
            },
        }


class MauvePerExample(MauveParameters, RelabeledMetric):
    """Mean over examples of MAUVE between the candidates and the references of an
    example; higher is better, in (0, 1].

    An example has few texts in few buckets: its value is coarse and has a high
    variance. Has p-values.

    Parameters are those of :class:`MauveParameters`.

    References
    ----------
    Chan et al. 2022, *Distribution Aware Metrics for Conditional Natural Language
    Generation*, B.5.
    """

    name = "mauve-example"
    level: Level = "set"

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return MAUVE of each example under labels (P, N), shape (B, P)."""
        vectors = features.set_vectors(self.embedding, batch.text_ids)
        k = self.k or automatic_buckets(batch.n, batch.m)
        return relabel(
            vectors, labels, k, seed=self.seed, redo=self.redo, scaling=self.scaling
        )
