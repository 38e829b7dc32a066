"""Maximum mean discrepancy with a Gaussian kernel (Gretton et al. 2012), on arrays.

    K(x, y) = exp(-|x - y|^2 / (2 sigma^2)),  sigma = half the median distance between any two of the N vectors
    biased:    mean K(C, C) + mean K(R, R) - 2 mean K(C, R)                   (V-statistic, >= 0)
    unbiased:  the same without the diagonals, divided by n(n-1) and m(m-1)   (may be negative)

Chan et al. 2022, section 3.3 and A.6 (the printed formula has a wrong sign and no means). sigma does not depend on the
labels, so that the kernel is one matrix for all relabelings. Where more than half of the pairs are equal sigma is 0 and
the kernel its limit, 1 for equal vectors and 0 for others; identical vectors only give 0.
"""

from __future__ import annotations

import numpy as np

from harness.plugins.kernel import geometry


def mmd(x: np.ndarray, y: np.ndarray, estimator: str = "biased") -> np.ndarray | float:
    """MMD (squared, as the paper reports it) of x (n, d) and y (m, d), or (B,) values of (B, n, d) and (B, m, d).

    0 for equal distributions, at most 2. Unbiased: NaN when a sample has one vector. Raises ValueError for an unknown estimator or
    shapes that do not fit.
    """
    vectors, n = geometry.stacked(x, y)
    return geometry.shaped_like(geometry.two_sample(mmd_kernel(geometry.gram(vectors)), n, estimator), x)


def mmd_form(inner: np.ndarray, n: int, estimator: str = "biased") -> np.ndarray:
    """(B, N, N) forms whose values under all labels are the MMD, from Gram matrices (B, N, N)."""
    return geometry.two_sample_form(mmd_kernel(inner), n, estimator)


def mmd_kernel(inner: np.ndarray) -> np.ndarray:
    """(B, N, N) Gaussian kernels from Gram matrices (B, N, N)."""
    return gaussian_kernel(geometry.squared_distances(inner))


def gaussian_kernel(squared: np.ndarray) -> np.ndarray:
    """(B, N, N) kernel of squared distances, with half the median distance of each example as its width."""
    median = np.median(np.sqrt(geometry.upper(squared)), axis=1)
    scale = (0.5 * median**2)[:, None, None]  # 2 sigma^2 = 2 (median / 2)^2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squared == 0, 1.0, np.exp(-squared / scale))
