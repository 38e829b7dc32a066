"""MAUVE over any registered embedding: of the whole corpus, or example by example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness import registry
from harness.contracts import Batch, Embedding, Features, Level, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.plugins.mauve import frontier, quantise, statistic

EmbeddingSpec = str | Mapping[str, Any] | Embedding


def _buckets(k: int | str) -> int | None:
    if k == "auto":
        return None
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise HarnessError(f"mauve: k is 'auto' or an integer from 2; found {k!r}")
    return k


class _Settings:
    """Parameters, spec and signature of both metrics."""

    name = "mauve"
    level: Level = "corpus"

    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", k: int | str = "auto", seed: int = 25, redo: int = 5,
        scaling: float = frontier.SCALING,
    ) -> None:  # fmt: skip
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.k, self.seed, self.redo, self.scaling = _buckets(k), seed, redo, scaling
        self.spec = MetricSpec(
            name=f"{self.name}({self.embedding.name})",
            higher_is_better=True,
            level=self.level,
            needs=frozenset({"references", "embeddings"}) | frozenset(getattr(self.embedding, "needs", ())),
            bounds=(0.0, 1.0),
            shardable=self.level != "corpus",
        )

    def signature(self) -> str:
        settings = f"k:{self.k or 'auto'}|c:{self.scaling:g}|redo:{self.redo}|seed:{self.seed}"
        return f"{self.name}|{settings}|{self.embedding.signature()}"


class Mauve(_Settings):
    """MAUVE between all candidates and all references of the corpus; higher is better, 1 at best.

    Not a sum over examples: the buckets are found on all texts together. It therefore cannot be sharded, and has no score and
    no p-value per example (:class:`MauvePerExample` has). A row of statistics holds n, m and the ids of the example's
    texts. Weights count an example's texts several times in the histograms, between the buckets of the whole corpus.
    """

    _features: Features | None = None
    _known: tuple[bytes, np.ndarray] | None = None

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> None:
        return None

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """(B, 2 + n + m): n, m, text ids. Text ids mean something to one :class:`Features` only, which is kept."""
        self._features = features
        sizes = np.full((len(batch), 2), (batch.n, batch.m))
        return np.concatenate([sizes, batch.text_ids], axis=1).astype(np.float64)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        return np.full(len(stats), np.nan)

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        if not len(stats):
            return float("nan") if weights is None else np.full(len(weights), np.nan)
        rows, is_candidate, ids = _texts(stats)
        labels = self._quantised(ids, is_candidate)
        width = int(labels.max()) + 1
        given = np.ones((1, len(stats))) if weights is None else np.asarray(weights, dtype=np.float64)
        histograms = []
        for side in (is_candidate, ~is_candidate):
            counts = np.zeros((len(stats), width))
            np.add.at(counts, (rows[side], labels[side]), 1.0)
            weighted = given @ counts
            histograms.append(weighted / weighted.sum(axis=1, keepdims=True))
        values = frontier.area(histograms[0], histograms[1], self.scaling)
        return float(values[0]) if weights is None else values

    def details(self, stats: np.ndarray) -> dict[str, Any]:
        """Spread of the value over five k-means seeds and over half and twice the buckets, to be shown beside it."""
        if not len(stats):
            return {}
        _, is_candidate, ids = _texts(stats)
        vectors = self._vectors(ids)
        found = statistic.spread(
            vectors[is_candidate], vectors[~is_candidate], self.k, redo=self.redo, scaling=self.scaling,
            seeds=range(self.seed, self.seed + 5),
        )  # fmt: skip
        return {
            "sd_over_seeds": found.sd,
            "values_by_seed": found.seeds.tolist(),
            "values_by_k": {str(k): value for k, value in found.by_buckets.items()},
        }

    def _vectors(self, ids: np.ndarray) -> np.ndarray:
        if self._features is None:
            raise HarnessError(
                "mauve: statistics can only be reduced by the metric that made them, in the same process"
            )
        return self._features.vectors(self.embedding, ids)

    def _quantised(self, ids: np.ndarray, is_candidate: np.ndarray) -> np.ndarray:
        key = ids.tobytes() + is_candidate.tobytes()
        if self._known is None or self._known[0] != key:
            k = self.k or statistic.automatic_buckets(int(is_candidate.sum()), int((~is_candidate).sum()))
            labels = quantise.buckets(self._vectors(ids), k, seed=self.seed, redo=self.redo)
            self._known = (key, labels)
        return self._known[1]


def _texts(stats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per text of the corpus: row of its example, whether it is a candidate, its id."""
    sizes = stats[:, :2].astype(np.int64)
    total = sizes.sum(axis=1)
    column = np.arange(stats.shape[1] - 2)
    used = column < total[:, None]
    rows, columns = np.nonzero(used)
    return rows, columns < sizes[rows, 0], stats[:, 2:][used].astype(np.int64)


class MauvePerExample(_Settings, MeanMetric):
    """Mean over examples of MAUVE between an example's candidates and references (Chan et al. 2022, B.5); higher is better.

    A handful of texts in two buckets: the value is coarse and its variance high, which is the paper's point. With p-values.
    """

    name = "mauve-example"
    level: Level = "set"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        observed = (np.arange(batch.n + batch.m) < batch.n)[None]
        return self.null(batch, features, state, observed)[:, 0]

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        vectors = features.vectors(self.embedding, batch.text_ids)
        k = self.k or statistic.automatic_buckets(batch.n, batch.m)
        return statistic.relabeled(vectors, labels, k, seed=self.seed, redo=self.redo, scaling=self.scaling)
