"""Maximum mean discrepancy with a Gaussian kernel (Gretton et al. 2012) of two samples of vectors.

    K(x, y) = exp(-|x - y|^2 / (2 sigma^2)),  sigma = half the median distance between any two of the N vectors
    biased:    mean K(C, C) + mean K(R, R) - 2 mean K(C, R)                   (V-statistic, >= 0)
    unbiased:  the same without the diagonals, divided by n(n-1) and m(m-1)   (may be negative)

Chan et al. 2022, section 3.3 and A.6 (the printed formula has a wrong sign and no means). sigma does not depend on the
labels, so that the kernel is one matrix for all relabelings. If more than half of the pairs are equal, sigma is 0 and the
kernel is its limit, 1 for equal vectors and 0 for others; identical vectors alone have MMD 0.
"""

from __future__ import annotations

import numpy as np

from harness_metrics.kernel import geometry


def mmd(x: np.ndarray, y: np.ndarray, estimator: str = "biased") -> np.ndarray | float:
    """Return the squared MMD of two samples.

    Parameters
    ----------
    x, y : ndarray, shapes (n, d) and (m, d), or (B, n, d) and (B, m, d)
        Vectors of the samples.
    estimator : {'biased', 'unbiased'}
        V-statistic, or the statistic without the diagonals.

    Returns
    -------
    float, or ndarray of shape (B,)
        Biased: in [0, 2], 0 for equal samples. Unbiased: may be negative; NaN if a sample has one vector.

    Raises
    ------
    ValueError
        For an unknown estimator, or if the shapes do not match or a sample is empty.

    References
    ----------
    Gretton et al. 2012, *A Kernel Two-Sample Test*, equations 3 (unbiased) and 5 (biased).

    Examples
    --------
    >>> round(mmd(np.array([[0.0], [1.0]]), np.array([[1.0]])), 4)
    0.4323
    """
    vectors, n = geometry.stack_samples(x, y)
    return geometry.shaped_like(geometry.two_sample(mmd_kernel(geometry.gram(vectors)), n, estimator), x)


def mmd_kernel(inner: np.ndarray) -> np.ndarray:
    """Return the Gaussian kernels (B, N, N) for Gram matrices (B, N, N)."""
    return gaussian_kernel(geometry.squared_distances(inner))


def gaussian_kernel(squared: np.ndarray) -> np.ndarray:
    """Return the kernels (B, N, N) for squared distances (B, N, N); the width is half the median distance of each example."""
    # The median is over pairs of both samples: it does not depend on the labels, so that one kernel serves all
    # relabelings.
    median = np.median(np.sqrt(geometry.upper(squared)), axis=1)
    scale = (0.5 * median**2)[:, None, None]  # 2 sigma^2 = 2 (median / 2)^2
    with np.errstate(divide="ignore", invalid="ignore"):
        # A width of 0 gives exp(-inf) = 0 for different vectors; equal ones are 0 / 0 and take the limit 1.
        return np.where(squared == 0, 1.0, np.exp(-squared / scale))
