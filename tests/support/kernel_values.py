"""The two-sample statistics of two arrays of vectors, (n, d) and (m, d),
or of batches of them.
"""

from __future__ import annotations

import numpy as np

from harness_metrics.kernel import geometry
from harness_metrics.kernel.energy import energy_kernel
from harness_metrics.kernel.frechet import of_vectors
from harness_metrics.kernel.mmd import mmd_kernel
from harness_metrics.kernel.sliced_wasserstein import compare_samples, project_vectors


def stack_samples(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, int]:
    """Return two samples as one array (B, n + m, d), and n."""
    return np.concatenate([x, y], axis=-2).reshape(
        -1, x.shape[-2] + y.shape[-2], x.shape[-1]
    ), x.shape[-2]


def shaped_like(values: np.ndarray, x: np.ndarray) -> np.ndarray | float:
    """Return values (B,) unchanged for a batch of samples ``x`` (B, n, d), or as a
    float for a single sample (n, d).
    """
    return values if np.ndim(x) == 3 else float(values[0])


def energy(x: np.ndarray, y: np.ndarray) -> np.ndarray | float:
    """Return the energy distance (not its square root) of two samples,
    as V-statistics with the diagonals.
    """
    vectors, n = stack_samples(x, y)
    return shaped_like(
        geometry.two_sample(energy_kernel(geometry.gram(vectors)), n, "biased"), x
    )


def mmd(x: np.ndarray, y: np.ndarray, estimator: str = "biased") -> np.ndarray | float:
    """Return the squared MMD of two samples."""
    vectors, n = stack_samples(x, y)
    return shaped_like(
        geometry.two_sample(mmd_kernel(geometry.gram(vectors)), n, estimator), x
    )


def sliced_wasserstein(
    x: np.ndarray, y: np.ndarray, projections: int = 128, p: float = 2.0, seed: int = 0
) -> np.ndarray | float:
    """Return the sliced Wasserstein distance of two samples,
    a Monte Carlo estimate over seeded directions.
    """
    vectors, n = stack_samples(x, y)
    return shaped_like(
        compare_samples(project_vectors(vectors, projections, seed), n, p), x
    )


def frechet(x: np.ndarray, y: np.ndarray) -> np.ndarray | float:
    """Return the Frechet distance of two samples."""
    vectors, n = stack_samples(x, y)
    return shaped_like(of_vectors(vectors, n), x)
