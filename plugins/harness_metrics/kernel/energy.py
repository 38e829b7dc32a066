"""Energy distance (Szekely & Rizzo 2013) of two samples of vectors:
2 mean |c - r| - mean |c - c'| - mean |r - r'|.
"""

from __future__ import annotations

import numpy as np

from harness_metrics.kernel import geometry


def energy_kernel(inner: np.ndarray) -> np.ndarray:
    """Return the negative distances (B, N, N) for Gram matrices (B, N, N): the kernel
    whose MMD is the energy distance.
    """
    return -np.sqrt(geometry.squared_distances(inner))
