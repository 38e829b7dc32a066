"""Distribution metrics on text embeddings: MMD, Frechet, energy distance,
sliced Wasserstein.

Each is the mean over examples of a divergence between the vectors of the candidates and
those of the references; lower is better.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Explanation, Features, MeanMetric
from harness.contracts.parameters import check_arguments
from harness.errors import HarnessError
from harness.stats import forms, ties
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.kernel import frechet, geometry, mmd, sliced_wasserstein
from harness_metrics.kernel.energy import energy_kernel


class KernelMetric(EmbeddingMetric, MeanMetric):
    """Base of the divergences of an example's vectors; lower is better.

    Parameters are those of :class:`EmbeddingMetric`.
    """

    def _gram(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the Gram matrices of the vectors, shape (B, N, N)."""
        return geometry.gram(features.set_vectors(self.embedding, batch.text_ids))


def _nearest_and_farthest(distances: np.ndarray) -> Explanation:
    """Return the pairs of smallest and largest distance of a matrix (n, m) in words."""
    n, m = distances.shape
    near = divmod(int(distances.argmin()), m)
    far = divmod(int(distances.argmax()), m)
    return Explanation(
        f"Nearest candidate and reference (distance {distances[near]:.3f}) "
        f"and farthest ({distances[far]:.3f}), in the embedding",
        (
            (near[0], "nearest"),
            (n + near[1], "nearest"),
            (far[0], "farthest"),
            (n + far[1], "farthest"),
        ),
    )


class _TwoSampleMetric(KernelMetric):
    """Metrics of the form mean k(C, C) + mean k(R, R) - 2 mean k(C, R), whose kernel
    does not depend on the labels.
    """

    estimator = "biased"

    def _kernel(self, inner: np.ndarray) -> np.ndarray:
        """Return kernels (B, N, N) for Gram matrices (B, N, N)."""
        raise NotImplementedError

    def _forms(self, batch: Batch, features: Features) -> np.ndarray:
        return geometry.two_sample_form(
            self._kernel(self._gram(batch, features)), batch.n, self.estimator
        )

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the divergence of each example, shape (B,)."""
        return geometry.two_sample(
            self._kernel(self._gram(batch, features)), batch.n, self.estimator
        )

    def credits(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the U-statistic of the candidates less that without candidate i,
        shape (B, n).

        It is unbiased whatever ``estimator`` is: the biased one rewards candidates that
        are all equal. Raises :class:`HarnessError` for fewer than three candidates or
        two references.
        """
        if batch.n < 3 or batch.m < 2:
            sizes = f"{batch.n} captions and {batch.m} references"
            raise HarnessError(
                f"{self.spec.name}: {sizes}; the U-statistic without one caption "
                "needs groups of 3 and 2 references"
            )

        vectors = features.set_vectors(self.embedding, batch.text_ids)

        def compare(vectors: np.ndarray, n: int) -> np.ndarray:
            kernel = self._kernel(geometry.gram(vectors))
            return geometry.two_sample(kernel, n, "unbiased")

        # The width of MMD's kernel is that of the set without i: with one of the full
        # set, S(C without i) would depend on caption i.
        left_out = [
            compare(np.delete(vectors, i, axis=1), batch.n - 1) for i in range(batch.n)
        ]
        return compare(vectors, batch.n)[:, None] - np.stack(left_out, axis=1)

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the divergence of each example under labels (P, N), shape (B, P)."""
        return forms.evaluate(self._forms(batch, features), labels)

    def exact_p_values(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return exact permutation p-values, shape (B,)."""
        return forms.exact_p_values(
            self._forms(batch, features),
            batch.n,
            "upper",
            mirrored=batch.n == batch.m,
            precision=ties.FLOAT32,
        )

    def explain(
        self, batch: Batch, features: Features, state: Any
    ) -> list[Explanation | None]:
        """Return the nearest and the farthest candidate and reference of each example,
        length B.
        """
        squared = geometry.squared_distances(self._gram(batch, features))
        return [
            _nearest_and_farthest(matrix[: batch.n, batch.n :])
            for matrix in np.sqrt(np.maximum(squared, 0.0))
        ]


class Mmd(_TwoSampleMetric):
    """Squared maximum mean discrepancy with a Gaussian kernel whose width is half the
    median distance; at most 2.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    estimator : {'biased', 'unbiased'}
        The unbiased estimator needs two candidates and two references and may be
        negative.

    References
    ----------
    Gretton et al. 2012, *A Kernel Two-Sample Test*; Chan et al. 2022, section 3.3 and
    A.7. Formula: :mod:`harness_metrics.kernel.mmd`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        estimator: Literal["biased", "unbiased"] = "biased",
    ) -> None:
        self.estimator = estimator
        if estimator == "biased":
            super().__init__("mmd", embedding, False, bounds=(0.0, 2.0))
        else:
            super().__init__(
                "mmd", embedding, False, "unbiased", min_candidates=2, min_references=2
            )

    def _kernel(self, inner: np.ndarray) -> np.ndarray:
        return mmd.mmd_kernel(inner)


class Energy(_TwoSampleMetric):
    """Energy distance; at least 0.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.

    References
    ----------
    Szekely & Rizzo 2013, *Energy statistics*. Formula:
    :mod:`harness_metrics.kernel.metric`.
    """

    def __init__(self, *, embedding: EmbeddingSpec = "minilm") -> None:
        super().__init__("energy", embedding, False, bounds=(0.0, math.inf))

    def _kernel(self, inner: np.ndarray) -> np.ndarray:
        return energy_kernel(inner)


class Frechet(KernelMetric):
    """Frechet distance between Gaussian fits; at least 0.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.

    References
    ----------
    Dowson & Landau 1982; Chan et al. 2022, A.6. Formula:
    :mod:`harness_metrics.kernel.frechet`.
    """

    def __init__(self, *, embedding: EmbeddingSpec = "minilm") -> None:
        super().__init__("frechet", embedding, False, bounds=(0.0, math.inf))

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the divergence of each example, shape (B,)."""
        return frechet.of_examples(self._gram(batch, features), batch.n)

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the divergence of each example under labels (P, N), shape (B, P)."""
        return frechet.relabel(self._gram(batch, features), labels)

    def exact_p_values(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return exact permutation p-values, shape (B,)."""
        return frechet.exact_p_values(self._gram(batch, features), batch.n)


class SlicedWasserstein(KernelMetric):
    """Sliced Wasserstein distance along seeded directions; at least 0.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    projections : int
        Number of directions.
    p : float
        Order, at least 1.
    seed : int
        Seed of the directions.

    References
    ----------
    Bonneel et al. 2015, *Sliced and Radon Wasserstein Barycenters of Measures*.
    Formula: :mod:`harness_metrics.kernel.sliced_wasserstein`.
    """

    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        projections: int = 128,
        p: float = 2.0,
        seed: int = 0,
    ) -> None:
        if projections < 1 or not p >= 1:
            raise HarnessError(
                f"sliced-wasserstein: projections is {projections!r} and p is {p!r}; "
                "both must be at least 1"
            )
        self.projections = projections
        self.p = p
        self.seed = seed
        super().__init__("sliced-wasserstein", embedding, False, bounds=(0.0, math.inf))
        self._signature += f"|p:{p:g}|projections:{projections}|seed:{seed}"

    def _lines(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the coordinates of the vectors along the directions,
        shape (B, projections, N).
        """
        vectors = features.set_vectors(self.embedding, batch.text_ids)
        return sliced_wasserstein.project_vectors(vectors, self.projections, self.seed)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the divergence of each example, shape (B,)."""
        return sliced_wasserstein.compare_samples(
            self._lines(batch, features), batch.n, self.p
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the divergence of each example under labels (P, N), shape (B, P)."""
        return sliced_wasserstein.relabel(self._lines(batch, features), labels, self.p)

    def exact_p_values(
        self, batch: Batch, features: Features, state: Any
    ) -> np.ndarray:
        """Return exact permutation p-values, shape (B,)."""
        return sliced_wasserstein.exact_p_values(
            self._lines(batch, features), batch.n, self.p
        )
