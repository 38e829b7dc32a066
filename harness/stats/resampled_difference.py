"""Paired tests of a statistic of two systems on the same examples: bootstrap and approximate randomisation.

Both tests look at the difference of the corpus statistic that a table reports, computed from sufficient statistics by the
metric's own ``reduce``; per-example means are not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.stats import bootstrap

Reduce = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""``reduce(stats, weights)``: statistics (R, d) and weights (W, R) to values (W,)."""
CHUNK = 128
"""Random assignments evaluated in one call of ``reduce``."""


@dataclass(frozen=True)
class ResampledDifference:
    """Difference A minus B of a corpus statistic, with its interval and two tests."""

    a: float
    """Value of system A on the shared examples."""
    b: float
    """Value of system B on the shared examples."""
    difference: float
    ci95: tuple[float, float] | None
    """Paired bootstrap percentile interval of the difference."""
    p_bootstrap: float
    """Two-sided p-value of the paired bootstrap, shifted to the null hypothesis."""
    p_randomisation: float
    """Two-sided p-value of approximate randomisation."""
    draws: int
    n: int
    """Number of shared examples."""


def compare_statistics(
    reduce: Reduce, a: np.ndarray, b: np.ndarray, *, samples: int = 1000, draws: int = 1000, seed: int = 0
) -> ResampledDifference:
    """Compare the statistic of two systems.

    Parameters
    ----------
    reduce : callable
        Reduction of statistics under weights.
    a, b : ndarray
        Sufficient statistics of both systems on the same examples in the same order, shapes (B, d) and (B, e); the narrower
        one is padded with NaN.
    samples : int
        Bootstrap resamples; both systems see the same weights.
    draws : int
        Random assignments: each example's rows are swapped with probability one half.
    seed : int
        Seed of the random draws.

    Returns
    -------
    ResampledDifference
        NaN p-values when the statistic is undefined for a system.

    References
    ----------
    Koehn, "Statistical significance tests for machine translation evaluation" (EMNLP 2004); Riezler and Maxwell, "On some
    pitfalls in automatic evaluation and significance testing for MT" (2005): shifted bootstrap, approximate randomisation.
    """
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"paired statistics have the same number of rows, at least one; found {len(a)} and {len(b)}")
    n = len(a)
    both = np.concatenate(_same_width(a, b))
    ones, zeros = np.ones((1, n)), np.zeros((1, n))
    whole = reduce(both, np.concatenate([np.hstack([ones, zeros]), np.hstack([zeros, ones])]))
    value_a, value_b = float(whole[0]), float(whole[1])
    observed = value_a - value_b
    if np.isnan(observed):
        return ResampledDifference(value_a, value_b, observed, None, float("nan"), float("nan"), draws, n)
    differences = _bootstrap_differences(reduce, both, n, samples, seed) if n > 1 and samples else np.empty(0)
    ci95 = bootstrap.interval(differences) if len(differences) else None
    p_bootstrap = float("nan")
    if len(differences):
        shifted = np.abs(differences - differences.mean())
        p_bootstrap = float((1 + np.sum(_at_least(shifted, observed))) / (1 + len(differences)))
    swapped = _randomised_differences(reduce, both, n, draws, seed)
    p_randomisation = float((1 + np.sum(_at_least(np.abs(swapped), observed))) / (1 + len(swapped)))
    return ResampledDifference(value_a, value_b, observed, ci95, p_bootstrap, p_randomisation, draws, n)


def _same_width(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays (B, max(d, e)), padded with NaN at the end of their rows."""
    width = max(a.shape[1], b.shape[1])
    padded = [np.pad(x, ((0, 0), (0, width - x.shape[1])), constant_values=np.nan) for x in (a, b)]
    return padded[0], padded[1]


def _at_least(values: np.ndarray, observed: float) -> np.ndarray:
    """Return the mask of values at least as large as the observed difference, up to float error."""
    scale = max(abs(observed), float(np.max(np.abs(values), initial=0.0)))
    return values >= abs(observed) - 1e-12 * scale


def _bootstrap_differences(reduce: Reduce, both: np.ndarray, n: int, samples: int, seed: int) -> np.ndarray:
    """Return differences (samples,) under resampling of the examples; NaN ones are left out."""
    parts: list[np.ndarray] = []
    for weights in bootstrap.weights(n, samples, seed):
        zeros = np.zeros_like(weights)
        values = reduce(both, np.concatenate([np.hstack([weights, zeros]), np.hstack([zeros, weights])]))
        parts.append(values[: len(weights)] - values[len(weights) :])
    differences = np.concatenate(parts)
    return differences[~np.isnan(differences)]


def _randomised_differences(reduce: Reduce, both: np.ndarray, n: int, draws: int, seed: int) -> np.ndarray:
    """Return differences (draws,) after swapping the rows of a random half of the examples; NaN ones are left out."""
    rng = np.random.default_rng([seed, n, 1])
    parts: list[np.ndarray] = []
    for start in range(0, draws, CHUNK):
        keep = rng.integers(0, 2, size=(min(CHUNK, draws - start), n)).astype(np.float64)
        weights = np.hstack([keep, 1 - keep])
        values = reduce(both, np.concatenate([weights, 1 - weights]))
        parts.append(values[: len(keep)] - values[len(keep) :])
    differences = np.concatenate(parts) if parts else np.empty(0)
    return differences[~np.isnan(differences)]
