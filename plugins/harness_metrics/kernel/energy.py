"""Energy distance (Szekely & Rizzo 2013) of two samples of vectors: 2 mean |c - r| - mean |c - c'| - mean |r - r'|."""

from __future__ import annotations

import numpy as np

from harness_metrics.kernel import geometry


def energy(x: np.ndarray, y: np.ndarray) -> np.ndarray | float:
    """Return the energy distance (not its square root) of two samples, as V-statistics with the diagonals.

    Parameters
    ----------
    x, y : ndarray, shapes (n, d) and (m, d), or (B, n, d) and (B, m, d)
        Vectors of the samples.

    Returns
    -------
    float, or ndarray of shape (B,)
        At least 0; 0 for equal samples.

    Raises
    ------
    ValueError
        If the shapes do not match or a sample is empty.

    References
    ----------
    Szekely & Rizzo 2013, *Energy statistics: A class of statistics based on distances*.

    Examples
    --------
    >>> energy(np.array([[0.0], [0.0]]), np.array([[1.0]]))
    2.0
    """
    vectors, n = geometry.stack_samples(x, y)
    return geometry.shaped_like(geometry.two_sample(energy_kernel(geometry.gram(vectors)), n, "biased"), x)


def energy_kernel(inner: np.ndarray) -> np.ndarray:
    """Return the negative distances (B, N, N) for Gram matrices (B, N, N): the kernel whose MMD is the energy distance."""
    return -np.sqrt(geometry.squared_distances(inner))
