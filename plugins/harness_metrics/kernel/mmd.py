"""Maximum mean discrepancy with a Gaussian kernel (Gretton et al. 2012) of two samples
of vectors.

    K(x, y) = exp(-|x - y|^2 / (2 sigma^2))
    biased:    mean K(C, C) + mean K(R, R) - 2 mean K(C, R)
    unbiased:  the same without the diagonals, divided by n(n-1) and m(m-1)

The biased one is a V-statistic, at least 0; the unbiased one may be negative. sigma is
half the median distance between any two of the N vectors.

Chan et al. 2022, section 3.3 and A.7 (the printed formula has a wrong sign and no
means). sigma does not depend on the labels, so that the kernel is one matrix for all
relabelings. If more than half of the pairs are equal, sigma is 0 and the kernel is its
limit, 1 for equal vectors and 0 for others; identical vectors alone have MMD 0.
"""

from __future__ import annotations

import numpy as np

from caption_kernels import exp
from harness_metrics.kernel import geometry


def mmd_kernel(inner: np.ndarray) -> np.ndarray:
    """Return the Gaussian kernels (B, N, N) for Gram matrices (B, N, N)."""
    return gaussian_kernel(geometry.squared_distances(inner))


def gaussian_kernel(squared: np.ndarray) -> np.ndarray:
    """Return the kernels (B, N, N) for squared distances (B, N, N); the width is half
    the median distance of each example.
    """
    # The median is over pairs of both samples: it does not depend on the labels, so
    # that one kernel serves all relabelings.
    median = np.median(np.sqrt(geometry.upper(squared)), axis=1)
    scale = (0.5 * median**2)[:, None, None]  # 2 sigma^2 = 2 (median / 2)^2
    with np.errstate(divide="ignore", invalid="ignore"):
        # A width of 0 gives exp(-inf) = 0 for different vectors; equal ones are 0 / 0
        # and take the limit 1.
        return np.where(squared == 0, 1.0, exp(-squared / scale))
