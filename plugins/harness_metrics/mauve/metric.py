"""Metrics ``mauve`` (of the whole corpus) and ``mauve-example`` (of each example), over any registered embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from harness.contracts import Batch, Features, HoldsFixed, Level
from harness.errors import HarnessError
from harness_metrics.bases.embedded import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.relabeled import RelabeledMetric
from harness_metrics.mauve import frontier, quantise, statistic
from harness_metrics.sets import vector_rows

_SPREAD_SEEDS = 5


class MauveParameters(EmbeddingMetric):
    """Parameters, spec and signature of both metrics.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int or 'auto'
        Number of buckets, at least 2; ``auto`` is a tenth of the smaller sample, from 2 to 500.
    seed, redo : int
        Seed and number of random starts of k-means (at least 1).
    scaling : float
        The constant c of the paper.
    """

    name = "mauve"
    level: Level = "corpus"

    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", k: int | str = "auto", seed: int = 25, redo: int = 5,
        scaling: float = frontier.SCALING,
    ) -> None:  # fmt: skip
        self.k, self.seed, self.redo, self.scaling = _buckets(k), seed, redo, scaling
        if redo < 1:
            raise HarnessError(f"mauve: redo is {redo!r}; expected at least 1 start of k-means")
        super().__init__(
            self.name, embedding, True, level=self.level, bounds=(0.0, 1.0), shardable=self.level != "corpus",
            settings=(f"k:{k}", f"c:{scaling:g}", f"redo:{redo}", f"seed:{seed}"),
        )  # fmt: skip


def _buckets(k: int | str) -> int | None:
    """Return the number of buckets, None for ``auto``; raise :class:`HarnessError` for other values."""
    if k == "auto":
        return None
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise HarnessError(f"mauve: k is {k!r}; expected 'auto' or an integer of at least 2")
    return k


class Mauve(MauveParameters):
    """MAUVE between all candidates and all references of the corpus; higher is better, in (0, 1].

    Statistics hold the vectors of an example's texts: 8 d bytes per text. They are independent of the process and of the
    :class:`Features` that produced them. The number is not a mean over examples, because the buckets depend on all texts together.
    Therefore it has no score, interval or p-value per example (:class:`MauvePerExample` has). Weights multiply the counts of an
    example's texts in the histograms; the buckets are those of the unweighted corpus.

    Parameters are those of :class:`MauveParameters`.

    References
    ----------
    Pillutla et al. 2021, *MAUVE: Measuring the Gap Between Neural Text and Human Text using Divergence Frontiers*, section 2.
    """

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> None:
        """Return None: there is no corpus state."""

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return n, m, d and the N d numbers of the text vectors of each example, shape (B, 3 + N d)."""
        vectors = features.vectors(self.embedding, batch.text_ids)
        return vector_rows.pack(vectors, batch.n)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """Return NaN for each example, shape (B,)."""
        return np.full(len(stats), np.nan)

    @overload
    def reduce(self, stats: np.ndarray) -> float:
        """Return MAUVE of the corpus for statistics (B, 3 + N d)."""

    @overload
    def reduce(self, stats: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return one value per weight vector, shape (W,), for ``weights`` of shape (W, B)."""

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        """Return MAUVE of the corpus, or values (W,) for ``weights`` of shape (W, B); NaN without examples."""
        if not len(stats):
            return float("nan") if weights is None else np.full(len(weights), np.nan)
        texts = vector_rows.unpack(stats, "mauve")
        n_candidates = int(texts.is_candidate.sum())
        k = self.k or statistic.automatic_buckets(n_candidates, len(texts.rows) - n_candidates)
        labels = quantise.buckets(texts.vectors, k, seed=self.seed, redo=self.redo)
        row_weights = np.ones((1, len(stats))) if weights is None else np.asarray(weights, dtype=np.float64)
        histograms: list[np.ndarray] = []
        for side in (texts.is_candidate, ~texts.is_candidate):
            counts = np.zeros((len(stats), int(labels.max()) + 1))
            np.add.at(counts, (texts.rows[side], labels[side]), 1.0)
            weighted = row_weights @ counts
            histograms.append(weighted / weighted.sum(axis=1, keepdims=True))
        values = frontier.area(histograms[0], histograms[1], self.scaling)
        return float(values[0]) if weights is None else values

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return, from statistics of shape (B, d), values for five k-means seeds, their standard deviation, and
        the values for half and twice the buckets."""
        if not len(stats):
            return {}
        texts = vector_rows.unpack(stats, "mauve")
        spread = statistic.spread(
            texts.candidates, texts.references, self.k,
            redo=self.redo, scaling=self.scaling, seeds=range(self.seed, self.seed + _SPREAD_SEEDS),
        )  # fmt: skip
        return {
            "sd_over_seeds": spread.sd,
            "values_by_seed": spread.seeds.tolist(),
            "values_by_k": {str(k): value for k, value in spread.by_buckets.items()},
        }


class MauvePerExample(MauveParameters, RelabeledMetric):
    """Mean over examples of MAUVE between the candidates and the references of an example; higher is better, in (0, 1].

    An example has few texts in few buckets: its value is coarse and has a high variance. Has p-values.

    Parameters are those of :class:`MauveParameters`.

    References
    ----------
    Chan et al. 2022, *Distribution Aware Metrics for Conditional Natural Language Generation*, B.5.
    """

    name = "mauve-example"
    level: Level = "set"

    @property
    def held_fixed(self) -> str:
        """Note of the interval from the embedding."""
        return self.embedding.held_fixed if isinstance(self.embedding, HoldsFixed) else ""

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return MAUVE of each example under labels (P, N), shape (B, P)."""
        vectors = features.vectors(self.embedding, batch.text_ids)
        k = self.k or statistic.automatic_buckets(batch.n, batch.m)
        return statistic.relabel(vectors, labels, k, seed=self.seed, redo=self.redo, scaling=self.scaling)
