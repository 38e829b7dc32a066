"""Metrics ``mauve-knn`` and ``mauve-kde``: MAUVE within each example by local density
estimates, with p-values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from caption_kernels import exp, log
from harness.contracts import Batch, Features, weighted_sums
from harness.contracts.parameters import Count, Positive, check_arguments
from harness_metrics.bases.metrics import (
    EmbeddingMetric,
    EmbeddingSpec,
    RelabeledMetric,
    evaluate_labels,
)
from harness_metrics.kernel import geometry, mmd
from harness_metrics.mauve import frontier

# --------------------------------------------------------------------------- densities
# MAUVE of small samples by local estimates of the densities, without buckets: k nearest
# neighbours, or kernels.
#
# Each text has weights to all texts of the example (itself included): 1 for its k
# nearest, or a Gaussian kernel. The density of a sample at a text is the mean weight of
# the sample's texts. With the density p of the text's own sample and q of the other
# one,
#
#     KL(own | w own + (1 - w) other) is estimated by the mean over the own sample of
#     log(p / (w p + (1 - w) q)),
#
# and MAUVE is the area under the frontier of both divergences, as for histograms.
# Estimates below 0 count as 0.
#
# Pillutla et al. 2023, *MAUVE Scores for Generative Models: Theory and Practice*,
# section 4.2 (nearest neighbours, kernels).


_LABELS = 1 << 9
"""Relabelings evaluated at once, for arrays that stay in the cache."""
_FACTORS = 16
"""Densities of which one product is formed; each is above 1e-9."""


def neighbour_weights(squared: np.ndarray, k: int) -> np.ndarray:
    """Return 1 for the texts up to the k-th nearest other text of each text, and for
    itself, else 0; equal distances count together.

    Parameters
    ----------
    squared : ndarray, shape (B, N, N)
        Distances, in any unit.
    k : int
        Number of neighbours; at most N - 1 are used.

    Returns
    -------
    ndarray, shape (B, N, N)
        Weights, rows the text whose neighbours they are.
    """
    distances = geometry.merge_close(squared)
    size = distances.shape[-1]
    distances[:, np.arange(size), np.arange(size)] = -1.0
    radius = np.sort(distances, axis=2)[:, :, min(k, size - 1)]
    return (distances <= radius[:, :, None]).astype(np.float64)


def area(
    weights: np.ndarray, labels: np.ndarray, scaling: float = frontier.SCALING
) -> np.ndarray:
    """Return MAUVE under labels, shape (B, P), in (0, 1].

    Parameters
    ----------
    weights : ndarray, shape (B, N, N)
        Weights of all texts to each text (a row); the diagonal is positive.
    labels : ndarray, shape (P, N)
        Labels, bool, True for a candidate; each row has as many.
    scaling : float
        The constant c of the paper.

    Examples
    --------
    >>> weights = np.ones((1, 4, 4))
    >>> area(
    ...     weights, np.array([[True, True, False, False]])
    ... ).tolist()  # texts that are not told apart
    [[1.0]]
    """
    grid = frontier.mixtures()

    def prepare(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        def area_under(labels: np.ndarray) -> np.ndarray:
            # Both divergences are functions of the text's own share p / (p + q) alone,
            # which is formed once for the two.
            share = _own_share(matrix, labels)
            y = _divergences(share[labels].reshape(len(labels), -1), grid)
            x = _divergences(share[~labels].reshape(len(labels), -1), 1.0 - grid)
            return frontier.area_of_curve(exp(-scaling * x), exp(-scaling * y))

        return area_under

    return evaluate_labels(weights, labels, _LABELS, prepare)


def _own_share(weights: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return p / (p + q) for the densities of the own and of the other sample at each
    text, shape (P, N).
    """
    n: np.ndarray = labels.sum(axis=1, keepdims=True)
    sums = weighted_sums(np.concatenate([labels, ~labels]), weights.T)
    candidates = sums[: len(labels)] / n
    references = sums[len(labels) :] / (labels.shape[1] - n)
    return np.where(labels, candidates, references) / (candidates + references)


def _divergences(share: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return the divergences of a sample from mixtures with weight ``grid`` (points,)
    of it, shape (P, points), for shares (P, texts).
    """
    # The density of the sample itself is the mixture of weight 1.
    own = np.append(grid, 1.0)
    other = np.append(1.0 - grid, 0.0)
    sums = np.zeros((len(share), len(own)))
    for start in range(0, share.shape[1], _FACTORS):
        # Logarithms are most of the cost of the metric: that of a product takes the
        # place of a sum of them.
        product = np.ones(sums.shape)
        for column in share.T[start : start + _FACTORS, :, None]:
            product *= own * column + other * (1.0 - column)
        sums += log(product)
    # Divergences are at least 0; estimates from a few texts need not be.
    return np.maximum((sums[:, -1:] - sums[:, :-1]) / share.shape[1], 0.0)


# --------------------------------------------------------------------------- metrics


class _Local(EmbeddingMetric, RelabeledMetric):
    """Base of both metrics; a subclass defines ``_weights``."""

    def __init__(
        self, name: str, embedding: EmbeddingSpec, scaling: Positive, *options: str
    ) -> None:
        self.scaling = float(scaling)
        settings = (*options, f"c:{self.scaling:g}")
        super().__init__(
            name, embedding, True, *options, settings=settings, bounds=(0.0, 1.0)
        )

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        """Return the weights of all texts to each text, shape (B, N, N),
        for Gram matrices (B, N, N).
        """
        raise NotImplementedError

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return MAUVE of each example under labels (P, N), shape (B, P)."""
        inner = geometry.gram(features.set_vectors(self.embedding, batch.text_ids))
        return area(self._weights(inner), labels, self.scaling)


class MauveNeighbours(_Local):
    """MAUVE within each example, densities by the k nearest texts; higher is better,
    in (0, 1]. Has p-values.

    An example with at most k + 1 texts is undefined: all of its texts are neighbours of
    each other.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int, default 4
        Number of neighbours.
    scaling : float
        The constant c of the paper.

    Raises
    ------
    HarnessError
        For a parameter out of range.

    References
    ----------
    Pillutla et al. 2023, *MAUVE Scores for Generative Models: Theory and Practice*,
    section 4.2. Formula: :mod:`harness_metrics.mauve.shares_metric`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        k: Count = 4,
        scaling: Positive = frontier.SCALING,
    ) -> None:
        self.k = k
        super().__init__(
            "mauve-knn", embedding, scaling, *([f"k={k}"] if k != 4 else [])
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return MAUVE as the base does; NaN for an example whose N texts are all
        neighbours of each other, N - 1 <= k.
        """
        if labels.shape[1] - 1 <= self.k:
            # Every weight is 1: both samples have the same density everywhere, whatever
            # the texts.
            return np.full((batch.text_ids.shape[0], len(labels)), np.nan)
        return super().null(batch, features, state, labels)

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        return neighbour_weights(geometry.squared_distances(inner), self.k)


class MauveKernel(_Local):
    """MAUVE within each example, densities by a Gaussian kernel; higher is better,
    in (0, 1]. Has p-values.

    The width of the kernel is half the median distance of the texts of an example, as
    for ``mmd``.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    scaling : float
        The constant c of the paper.

    Raises
    ------
    HarnessError
        For a scaling that is not above 0.

    References
    ----------
    Pillutla et al. 2023, *MAUVE Scores for Generative Models: Theory and Practice*,
    section 4.2. Formula: :mod:`harness_metrics.mauve.shares_metric`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        scaling: Positive = frontier.SCALING,
    ) -> None:
        super().__init__("mauve-kde", embedding, scaling)

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        return mmd.mmd_kernel(inner)
