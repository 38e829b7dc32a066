"""Energy distance (Szekely & Rizzo 2013), on arrays: 2 mean |c - r| - mean |c - c'| - mean |r - r'|, V-statistics."""

from __future__ import annotations

import numpy as np

from harness.plugins.kernel import geometry


def energy(x: np.ndarray, y: np.ndarray) -> np.ndarray | float:
    """Energy distance (not its square root) of x (n, d) and y (m, d), or (B,) for batches; >= 0, 0 for equal distributions."""
    vectors, n = geometry.stacked(x, y)
    return geometry.shaped_like(geometry.two_sample(energy_kernel(geometry.gram(vectors)), n, "biased"), x)


def energy_form(inner: np.ndarray, n: int) -> np.ndarray:
    """(B, N, N) forms whose values under all labels are the energy distance, from Gram matrices (B, N, N)."""
    return geometry.two_sample_form(energy_kernel(inner), n, "biased")


def energy_kernel(inner: np.ndarray) -> np.ndarray:
    """(B, N, N) negative distances: the kernel whose MMD is the energy distance."""
    return -np.sqrt(geometry.squared_distances(inner))
