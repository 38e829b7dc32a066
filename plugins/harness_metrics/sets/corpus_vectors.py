"""Base class of the corpus metrics that pool the embeddings of all candidates and of all references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from harness.contracts import Batch, Features, MetricSpec
from harness_metrics.bases.embedded import EmbeddingMetric, EmbeddingSpec
from harness_metrics.crnrr.rows import repeat_rows
from harness_metrics.sets import grouped_jackknife, vector_rows


class CorpusVectors(EmbeddingMetric, grouped_jackknife.Jackknifed):
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
        super().__init__(
            name, embedding, higher, *options, level="corpus", references=references, bounds=bounds, shardable=False
        )

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the number of vectors (n, d) and (m, d); NaN where it is not defined."""
        raise NotImplementedError(f"{type(self).__name__} must define value(candidates, references)")

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> None:
        """Return None: there is no corpus state."""

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the vectors of each example as numbers, shape (B, 3 + N d), see :mod:`harness_metrics.sets.vector_rows`."""
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
            return np.array([self.reduce(rows) for rows in repeat_rows(stats, weights)])
        if not len(stats):
            return float("nan")
        texts = vector_rows.unpack(stats, self.spec.name.partition("(")[0])
        return self.value(texts.candidates, texts.references)
