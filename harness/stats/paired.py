"""Paired comparison of two systems on the same examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.stats import bootstrap

EXACT_UP_TO = 16
"""Maximum number of examples for which all sign patterns are enumerated."""
LEVEL = 0.05
"""Level of significance of verdicts."""


@dataclass(frozen=True)
class Paired:
    """Difference A minus B of per-example scores."""

    difference: float
    """Mean difference."""
    ci95: tuple[float, float] | None
    """Bootstrap percentile interval over examples."""
    p_value: float
    """Two-sided sign-flip permutation test."""
    method: str
    n: int
    a_larger: int
    b_larger: int
    ties: int


def compare(a: np.ndarray, b: np.ndarray, *, draws: int = 10_000, samples: int = 2000, seed: int = 0) -> Paired:
    """Compare per-example scores (B,) of two systems; pairs with a NaN on either side are left out.

    The null hypothesis is that swapping the two systems' scores on any example changes nothing (Fisher's randomisation
    test): all 2^B sign patterns up to B = 16, else ``draws`` random ones with p = (1 + #) / (1 + draws).
    Raises ValueError when the lengths differ or no pair is left.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"paired scores have the same length; found {a.shape} and {b.shape}")
    d = (a - b)[~(np.isnan(a) | np.isnan(b))]
    if len(d) == 0:
        raise ValueError("no example has a score from both systems")
    observed = abs(d.sum()) * (1 - 1e-12)
    if len(d) <= EXACT_UP_TO:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(d))[:, None] >> np.arange(len(d))) & 1)
        p, method = float(np.mean(np.abs(signs @ d) >= observed)), f"exact sign flips ({len(signs)})"
    else:
        p, method = _monte_carlo(d, observed, draws, seed), f"Monte Carlo sign flips ({draws})"
    ci95 = None
    if len(d) > 1 and samples:
        means = bootstrap.distribution(lambda w: w @ d / len(d), len(d), samples, seed)
        ci95 = bootstrap.interval(means)
    return Paired(float(d.mean()), ci95, p, method, len(d), int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum()))


def _monte_carlo(d: np.ndarray, observed: float, draws: int, seed: int, chunk: int = 512) -> float:
    rng = np.random.default_rng([seed, len(d)])
    extreme = 0
    for start in range(0, draws, chunk):
        bits = rng.integers(0, 2, size=(min(chunk, draws - start), len(d)), dtype=np.int8)
        extreme += int(np.sum(np.abs((1.0 - 2.0 * bits) @ d) >= observed))
    return (1 + extreme) / (1 + draws)
