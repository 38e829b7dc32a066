"""MAUVE of small samples by local estimates of the densities, without buckets: k
nearest neighbours, or kernels.

Each text has weights to all texts of the example (itself included): 1 for its k
nearest, or a Gaussian kernel. The density of a sample at a text is the mean weight of
the sample's texts. With the density p of the text's own sample and q of the other
one,

    KL(own | w own + (1 - w) other) is estimated by the mean over the own sample of
    log(p / (w p + (1 - w) q)),

and MAUVE is the area under the frontier of both divergences, as for histograms.
Estimates below 0 count as 0.

Pillutla et al. 2023, *MAUVE Scores for Generative Models: Theory and Practice*,
section 4.2 (nearest neighbours, kernels).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from caption_kernels import exp, log
from harness.contracts import weighted_sums
from harness_metrics.bases.relabeled_metric import evaluate_labels
from harness_metrics.kernel import geometry
from harness_metrics.mauve import frontier

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
    Texts that are not told apart:

    >>> area(np.ones((1, 4, 4)), np.array([[True, True, False, False]])).tolist()
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
