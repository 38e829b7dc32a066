"""Metrics ``mauve`` (of the whole corpus) and ``mauve-example`` (of each example), over
any registered embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Batch, CorpusMetric, Features, Level, Objects
from harness.errors import HarnessError
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.relabeled_metric import RelabeledMetric
from harness_metrics.mauve import frontier, quantise
from harness_metrics.mauve.statistic import automatic_buckets, relabel, spread
from harness_metrics.sets.corpus_vectors import collect_vectors, drop_unused_dimensions

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
