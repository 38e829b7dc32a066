"""Paired comparison of two systems that were scored on the same examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.stats import bootstrap, ties

EXACT_UP_TO = 16
"""Maximum number of examples for which all sign patterns are enumerated."""
LEVEL = 0.05
"""Level of significance of verdicts."""


@dataclass(frozen=True)
class Paired:
    """Test of the difference A minus B of per-example scores."""

    difference: float
    """Mean difference."""
    ci95: tuple[float, float] | None
    """Bootstrap percentile interval over examples; None for a single example or without bootstrap samples."""
    p_value: float
    """Two-sided p-value of the sign-flip permutation test."""
    method: str
    """``exact sign flips (PATTERNS)`` or ``Monte Carlo sign flips (DRAWS)``."""
    n: int
    """Number of pairs without NaN."""
    a_larger: int
    """Number of pairs in which A has the larger score."""
    b_larger: int
    """Number of pairs in which B has the larger score."""
    ties: int
    """Number of pairs with equal scores."""


def compare(a: np.ndarray, b: np.ndarray, *, draws: int = 10_000, samples: int = 2000, seed: int = 0) -> Paired:
    """Return the paired test of per-example scores (B,) of two systems; pairs with NaN are omitted.

    The null hypothesis is that exchanging the two scores of any example leaves their distribution unchanged (Fisher's
    randomisation test). All 2^B sign patterns are evaluated up to B = 16; beyond that ``draws`` random patterns, with
    p = (1 + #extreme) / (1 + draws).

    Parameters
    ----------
    a, b : array
        Scores, shape (B,), in the same order of examples.
    draws : int
        Number of random sign patterns.
    samples : int
        Number of bootstrap samples of the interval; 0: no interval.
    seed : int
        Seed of the random patterns and of the bootstrap.

    Raises
    ------
    ValueError
        The shapes differ, or no pair without NaN is left.

    Examples
    --------
    >>> result = compare(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))
    >>> result.difference, result.p_value, result.method
    (2.0, 0.25, 'exact sign flips (8)')
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"paired scores have the same length; found {a.shape} and {b.shape}")
    d = (a - b)[~(np.isnan(a) | np.isnan(b))]
    if len(d) == 0:
        raise ValueError("no example has a score from both systems")
    # Ties are relative to the sum of |d|: if the differences cancel, the observed sum is itself a rounding error.
    observed = abs(float(d.sum())) - ties.tolerance(float(np.abs(d).sum()))
    if len(d) <= EXACT_UP_TO:
        bits = (np.arange(1 << len(d))[:, None] >> np.arange(len(d))) & 1
        signs = 1.0 - 2.0 * bits.astype(np.float64)
        sums: np.ndarray = signs @ d
        p, method = float(np.mean(np.abs(sums) >= observed)), f"exact sign flips ({len(signs)})"
    else:
        p, method = _monte_carlo(d, observed, draws, seed), f"Monte Carlo sign flips ({draws})"
    ci95 = None
    if len(d) > 1 and samples:
        means = bootstrap.distribution(lambda w: w @ d / len(d), len(d), samples, seed)
        ci95 = bootstrap.interval(means)
    return Paired(float(d.mean()), ci95, p, method, len(d), int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum()))


def _monte_carlo(d: np.ndarray, observed: float, draws: int, seed: int, chunk: int = 512) -> float:
    """Return the Monte Carlo p-value of differences (n,) against the absolute observed sum."""
    rng = np.random.default_rng([seed, len(d)])
    extreme = 0
    for start in range(0, draws, chunk):
        bits = rng.integers(0, 2, size=(min(chunk, draws - start), len(d)), dtype=np.int8)
        extreme += int(np.sum(np.abs((1.0 - 2.0 * bits) @ d) >= observed))
    return (1 + extreme) / (1 + draws)
