"""MAUVE of two samples of vectors, the definition with which its faster forms are
compared.
"""

from __future__ import annotations

import numpy as np

from harness_metrics.mauve import frontier, quantise
from harness_metrics.mauve.statistic import area_of_buckets, automatic_buckets


def mauve(
    x: np.ndarray,
    y: np.ndarray,
    k: int | None = None,
    *,
    seed: int = 25,
    redo: int = 5,
    scaling: float = frontier.SCALING,
) -> float:
    """Return MAUVE of two samples of vectors, in (0, 1].

    Parameters
    ----------
    x, y : ndarray, shapes (n, d) and (m, d)
        Vectors of the samples.
    k : int, optional
        Number of buckets. The default is
        :func:`~harness_metrics.mauve.statistic.automatic_buckets`.
    seed, redo : int
        Seed and number of random starts of k-means.
    scaling : float
        The constant c of the paper.

    Returns
    -------
    float
        1 if both samples have the same histogram over the buckets.

    References
    ----------
    Pillutla et al. 2021, section 2.
    """
    vectors = np.concatenate([x, y])
    k = automatic_buckets(len(x), len(y)) if k is None else k
    return float(
        area_of_buckets(
            quantise.buckets(vectors, k, seed=seed, redo=redo), len(x), scaling
        )
    )
