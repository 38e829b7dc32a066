"""Base class of the corpus metrics that pool the embeddings of all candidates and of all references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from harness import registry
from harness.contracts import Batch, Embedding, Features, Interval, LeftOut, MetricSpec, Parameterised
from harness.plugins.crnrr.rows import repeated
from harness.plugins.sets import grouped_jackknife, vector_rows

EmbeddingSpec = str | Mapping[str, Any] | Embedding


class CorpusVectors(Parameterised):
    """Statistics hold the vectors of an example's texts, 8 d bytes per text; a subclass defines :meth:`value`.

    The number is a function of all vectors together. There is therefore no score per example. Resampled examples would be copies of each
    other: the interval is a jackknife over groups of examples. Weights are integers and repeat examples.

    Parameters
    ----------
    name : str
        Registered name.
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    higher : bool or None
        Direction of the metric.
    *options : str
        Further parts of the displayed name and the signature.
    references : bool
        True for a metric that reads the references.
    bounds : tuple of float, optional
        Smallest and largest possible value.
    """

    spec: MetricSpec

    def __init__(
        self, name: str, embedding: EmbeddingSpec, higher: bool | None, *options: str, references: bool = True,
        bounds: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self._signature = "|".join([name, *options, self.embedding.signature()])
        needs = {"embeddings", *getattr(self.embedding, "needs", ()), *(["references"] if references else [])}
        arguments = ", ".join([self.embedding.name, *options])
        self.spec = MetricSpec(
            f"{name}({arguments})", higher, "corpus", frozenset(needs), bounds=bounds, shardable=False
        )

    def signature(self) -> str:
        """Return the name, the options and the signature of the embedding, such as ``coverage|minilm``."""
        return self._signature

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the number of vectors (n, d) and (m, d); NaN where it is not defined."""
        raise NotImplementedError(f"{type(self).__name__} must define value(candidates, references)")

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> None:
        """Return None: there is no corpus state."""

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the vectors of each example as numbers, shape (B, 3 + N d), see :mod:`harness.plugins.sets.vector_rows`."""
        if "references" not in self.spec.needs:
            return vector_rows.pack(features.vectors(self.embedding, batch.candidate_ids), batch.n)
        return vector_rows.pack(features.vectors(self.embedding, batch.text_ids), batch.n)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """Return NaN for each example, shape (B,)."""
        return np.full(len(stats), np.nan)

    @overload
    def reduce(self, stats: np.ndarray) -> float:
        """Return the number of statistics (B, 3 + N d)."""

    @overload
    def reduce(self, stats: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return one number per weight vector, shape (W,), for integer ``weights`` of shape (W, B)."""

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        """Return the number of the corpus, or numbers (W,) for integer ``weights`` of shape (W, B); NaN without examples."""
        if weights is not None:
            return np.array([self.reduce(rows) for rows in repeated(stats, weights)])
        if not len(stats):
            return float("nan")
        texts = vector_rows.unpack(stats, self.spec.name.partition("(")[0])
        return self.value(texts.candidates, texts.references)

    def interval(self, stats: np.ndarray, samples: int, seed: int) -> Interval:
        """Return the interval of the jackknife over groups of examples (:mod:`harness.plugins.sets.grouped_jackknife`)."""
        left_out = self.left_out(stats, seed)
        return grouped_jackknife.interval_of(float(self.reduce(stats)), left_out, self.spec.bounds)

    def left_out(self, stats: np.ndarray, seed: int) -> LeftOut:
        """Return the number without each of at most 20 groups of examples."""
        return grouped_jackknife.without_groups(lambda rows: float(self.reduce(stats[rows])), len(stats), seed)
