"""Precision, recall, density, coverage: within each example over any distance, and of
the corpus over any embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.contracts import Batch, Features, Interval, LeftOut, Objects
from harness.contracts.parameters import Count, check_arguments
from harness.encoders.pair_products import pairs_device
from harness_metrics.bases.distance_metric import DistanceMetric, DistanceSpec
from harness_metrics.bases.embedding_metric import EmbeddingSpec
from harness_metrics.bases.relabeled_metric import RelabeledMetric
from harness_metrics.sets import corpus_neighbours, grouped_jackknife, neighbours
from harness_metrics.sets.corpus_vectors import CorpusVectors
from harness_metrics.sets.group_blocks import Sample
from harness_metrics.sets.neighbour_groups import without_groups
from harness_metrics.sets.neighbours import Kind

MOST_TEXTS = 80_000
"""Largest number of texts of a corpus whose number has an interval."""


class _WithinExamples(RelabeledMetric, DistanceMetric):
    """Base of the four metrics of an example.

    ``kind`` is the statistic; the balls are those of references,
    or of candidates for recall.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance; entry (x, j) places text x as hypothesis in the ball of
        text j as reference.
    k : int, default 1
        Neighbour that a ball reaches; an example needs k + 1 texts in the sample of the
        balls.

    Raises
    ------
    HarnessError
        For a ``k`` that is not an integer of at least 1.

    References
    ----------
    Kynkaanniemi et al. 2019; Naeem et al. 2020. Formula:
    :mod:`harness_metrics.sets.neighbours`.
    """

    kind: ClassVar[Kind] = "precision"

    @check_arguments
    def __init__(self, *, distance: DistanceSpec = "bert", k: Count = 1) -> None:
        self.k = k
        super().__init__(
            f"{self.kind}-example",
            distance,
            True,
            *([f"k={k}"] if k != 1 else []),
            bounds=(0.0, math.inf if self.kind == "density" else 1.0),
            min_candidates=k + 1 if self.kind == "recall" else 1,
            min_references=1 if self.kind == "recall" else k + 1,
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the statistic of each example under labels (P, N), shape (B, P)."""
        distances = features.distances(self.distance, batch)
        return neighbours.of_distances(distances, labels, self.k, self.kind)


class PrecisionPerExample(_WithinExamples):
    """Share of an example's candidates that lie among its references:
    inside the ball of one of them.

    Higher is better, in [0, 1].

    Parameters are those of :class:`CoveragePerExample`.
    """

    kind = "precision"


class RecallPerExample(_WithinExamples):
    """Share of an example's references that lie inside the ball of one of its
    candidates.

    Higher is better, in [0, 1].

    Parameters are those of :class:`CoveragePerExample`; the balls are those of the
    candidates.
    """

    kind = "recall"


class DensityPerExample(_WithinExamples):
    """Mean number of references' balls around a candidate of the same example,
    divided by k.

    Higher is better, at least 0.

    Parameters are those of :class:`CoveragePerExample`.
    """

    kind = "density"


class CoveragePerExample(_WithinExamples):
    """Share of an example's references that have a candidate within the distance of
    their k-th nearest other reference.

    Higher is better, in [0, 1].

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    k : int, default 1
        Neighbour that a ball reaches; an example needs k + 1 references.

    Raises
    ------
    HarnessError
        For a ``k`` that is not an integer of at least 1.

    References
    ----------
    Naeem et al. 2020, *Reliable Fidelity and Diversity Metrics for Generative Models*,
    equation 5.
    """

    kind = "coverage"

    def credits(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the share of the references that candidate i alone covers,
        shape (B, n).
        """
        distances = features.distances(self.distance, batch)
        return neighbours.coverage_credits(distances, batch.n, self.k)


class _OfCorpora(CorpusVectors):
    """Base of the four metrics of a corpus. ``kind`` is the statistic.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int, default 5
        Neighbour that a ball reaches.

    Raises
    ------
    HarnessError
        For a ``k`` that is not an integer of at least 1.
    """

    kind: ClassVar[Kind] = "precision"

    @check_arguments
    def __init__(self, *, embedding: EmbeddingSpec = "minilm", k: Count = 5) -> None:
        self.k = k
        bounds = (0.0, math.inf if self.kind == "density" else 1.0)
        options = [f"k={k}"] if k != 5 else []
        super().__init__(
            self.kind,
            embedding,
            True,
            *options,
            level="corpus",
            bounds=bounds,
            resampled=False,
        )

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the statistic of vectors (n, d) and (m, d); NaN with k vectors or
        fewer in the sample of the balls.
        """
        sizes = [len(candidates), len(references)]
        return corpus_neighbours.of_corpora(
            candidates, references, self.k, self.kind, self._device(sizes)
        )

    def _device(self, sizes: Sequence[int]) -> str | None:
        """Return the accelerator for the distances of corpora of ``sizes`` texts, from
        the centres of the balls to all; None for numpy.
        """
        centres = sizes[0] if self.kind == "recall" else sizes[1]
        return pairs_device(self.embedding, centres * sum(sizes))

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return the interval of the jackknife over halves of the examples, or over
        groups where halves take too long.

        Over groups it is too wide, because balls change abruptly when their neighbours
        are left out.
        """
        if sum(map(len, stats.columns.values())) > MOST_TEXTS:
            return Interval(
                None,
                f"above {MOST_TEXTS} texts the jackknife is left out, "
                "which takes three times as long as the number",
            )

        left_out = self.left_out(stats, seed)
        result = grouped_jackknife.interval_of(
            self.reduce(stats), left_out, self.spec.bounds
        )
        if result.ends is None or len(stats) in grouped_jackknife.HALVED:
            return result
        return Interval(result.ends, f"{result.note}; up to 1.7 times too wide")

    def left_out(self, stats: Objects, seed: int) -> LeftOut:
        """Return the number without halves of 20 to 1000 examples,
        else without each of at most 20 groups.

        Those without groups come from one pass over the distances, those without halves
        take five times as long as the number.
        """
        if len(stats) in grouped_jackknife.HALVED:
            return grouped_jackknife.without_halves(
                lambda rows: self.reduce(stats[rows]), len(stats), seed
            )

        group = grouped_jackknife.groups_of(len(stats), seed)
        sides = [
            Sample(stats.values(side), group[stats.owners(side)])
            for side in ("candidates", "references")
        ]
        device = self._device([len(side.vectors) for side in sides])
        values = without_groups(
            sides[0], sides[1], self.k, self.kind, int(group.max()) + 1, device
        )
        return grouped_jackknife.of_groups(values)


class Precision(_OfCorpora):
    """Share of all candidates that lie inside the ball of a reference:
    fidelity of a corpus.

    Higher is better, in [0, 1].

    Parameters are those of :class:`Coverage`.

    References
    ----------
    Kynkaanniemi et al. 2019, *Improved Precision and Recall Metric for Assessing
    Generative Models*.
    """

    kind = "precision"


class Recall(_OfCorpora):
    """Share of all references that lie inside the ball of a candidate:
    diversity of a corpus.

    Higher is better, in [0, 1].

    Parameters are those of :class:`Coverage`. An outlier among the candidates has a
    large ball; coverage avoids that.

    References
    ----------
    Kynkaanniemi et al. 2019, *Improved Precision and Recall Metric for Assessing
    Generative Models*.
    """

    kind = "recall"
    expected_check_failures: ClassVar[dict[str, str]] = {
        "needs": "with the few captions of the check, the fifth neighbour is so far "
        "that every ball holds all references"
    }


class Density(_OfCorpora):
    """Mean number of references' balls around a candidate, divided by k:
    fidelity of a corpus.

    Higher is better, at least 0.

    Parameters are those of :class:`Coverage`. The expected value for two samples of one
    distribution is 1.

    References
    ----------
    Naeem et al. 2020, *Reliable Fidelity and Diversity Metrics for Generative Models*,
    equation 4.
    """

    kind = "density"


class Coverage(_OfCorpora):
    """Share of all references whose ball holds a candidate: diversity of a corpus.

    Higher is better, in [0, 1].

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int, default 5
        Neighbour that a ball reaches.

    Raises
    ------
    HarnessError
        For a ``k`` that is not an integer of at least 1.

    References
    ----------
    Naeem et al. 2020, *Reliable Fidelity and Diversity Metrics for Generative Models*,
    equation 5.
    """

    kind = "coverage"
