"""Prediction of combined p-values and power at sizes that a pilot does not have.

Examples. A run with more examples than the pilot is simulated: its p-values are drawn from those of the pilot with replacement
and combined. Any combination of p-values can be used; none is assumed to be linear in the number of examples.

Candidates and references. The p-value of an example becomes the z-score ``z = -Phi^-1(p - f / 2)``, where f is the smallest
p-value of the test, 1 / C(n + m, n). The mean of z over the examples is fitted on the subsampled sizes of the pilot by

    mean z(n, m) = sqrt(h) (b + c (n - m) / (n + m)) + e / (n + m),        h = n m / (n + m),

and the variance of z by a line in h. ``b sqrt(h)`` is the growth of a two-sample test with its harmonic size h. The term with c
is the dependence on the ratio n / m: a metric that compares each candidate with all references gains from references and can
lose from candidates. The term with e is the bias of z under many ties in small samples. The z-scores of the largest size of the
pilot are shifted and scaled to the fitted mean and variance, and rounded up to a multiple of the new f. ``benchmarks/power.py``
compares this form with others on sizes that are held out.

Uncertainty. Every prediction is repeated for resamples of the examples and of the random orders of the captions, and for random
weights of the fitted sizes, so that a form that does not fit widens the interval. An error that grows with the distance from the
pilot is added to the predicted mean of z.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.stats.permutation import plan
from harness.stats.seeds import derive

Combination = Callable[[np.ndarray], float]
"""Combined p-value of the p-values (L,) of independent examples."""
SAMPLES = 200
"""Number of resamples of the pilot."""
MIN_SIZES = 3
"""Minimum number of sizes for a fit."""
_NOISE = 0.1
"""Standard deviation of the mean z-score about the fitted form that is expected besides sampling."""

_FORM_ERROR = 0.2
"""Standard deviation of the error of the fitted form, in units of z per unit of :func:`_distance` (``benchmarks/power.py``)."""


def combined_p(p: np.ndarray) -> float:
    """Return the combined p-value of the p-values (L,) of the examples of a run."""
    from harness.stats.combine import harmonic_mean_p

    return harmonic_mean_p(p)


def smallest_p(n: int, m: int) -> float:
    """Return the smallest p-value of the test of one example with n candidates and m references.

    >>> smallest_p(1, 5) == 1 / 6, smallest_p(5, 5) == 1 / 252
    (True, True)
    """
    return plan(n, m).floor


def z_scores(p: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """Return the z-scores of p-values whose smallest possible values are ``floors``; shapes broadcast.

    Half a step is subtracted from p, so that z is symmetric about 0 under the null hypothesis without ties.

    >>> z_scores(np.array([0.25, 1.0]), np.array(0.25)).round(2).tolist()
    [1.15, -1.15]
    """
    from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

    return -np.asarray(ndtri(np.asarray(p) - np.asarray(floors) / 2), dtype=np.float64)


def p_of_z(z: np.ndarray, floor: float) -> np.ndarray:
    """Return the p-values of z-scores, rounded up to a multiple of ``floor``.

    >>> p_of_z(np.array([0.0, 9.0]), 0.25).tolist()
    [0.5, 0.25]
    """
    from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

    steps = np.ceil(np.asarray(ndtr(-z), dtype=np.float64) / floor)
    return np.clip(steps * floor, floor, 1.0)


def terms(n: float, m: float) -> np.ndarray:
    """Return the regressors (3,) of the mean z-score at n candidates and m references (see the module)."""
    root = np.sqrt(n * m / (n + m))
    return np.array([root, root * (n - m) / (n + m), 1.0 / (n + m)])


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the Euclidean distance of two sizes (n, m) in sqrt(h) and (n - m) / (n + m)."""
    points = np.array([[np.sqrt(n * m / (n + m)), (n - m) / (n + m)] for n, m in (a, b)])
    return float(np.linalg.norm(points[0] - points[1]))


@dataclass(frozen=True, eq=False)
class SizeTrials:
    """p-values of one metric and model at one size of the pilot."""

    n: float
    m: float
    """``n`` and ``m`` are means over the examples; they differ from the nominal size where examples have fewer captions."""
    p: np.ndarray
    """p-values, shape (R, L): R random orders, L examples; NaN where undefined."""
    floors: np.ndarray
    """Smallest p-values of the tests of the examples, shape (L,)."""

    @property
    def z(self) -> np.ndarray:
        """z-scores, shape (R, L), NaN where undefined."""
        return z_scores(self.p, self.floors)


@dataclass(frozen=True)
class Prediction:
    """Combined p-value and power at one size, each with a 95 % interval."""

    p: float
    """Geometric mean over simulated runs."""
    p_low: float
    p_high: float
    """95 % of the runs of this size are expected between ``p_low`` and ``p_high``."""
    power: float
    power_low: float
    power_high: float


class Extrapolation:
    """Simulated runs of one metric and model at any size.

    Parameters
    ----------
    sizes : mapping of (n, m) to SizeTrials
        Sizes of the pilot, all with the same examples; the largest is the base of the prediction.
    base : (int, int)
        The pilot's own numbers of candidates and references, a key of ``sizes``.
    combine : callable
        Combination of the p-values of a run.
    alpha : float
        Significance level of the test of one example.
    seed : int
        Seed of the resamples.
    """

    def __init__(
        self,
        sizes: Mapping[tuple[int, int], SizeTrials],
        base: tuple[int, int],
        combine: Combination,
        alpha: float,
        seed: int,
    ) -> None:
        self.sizes = dict(sizes)
        self.base = base
        self.combine = combine
        self.alpha = alpha
        self.seed = derive(seed, "extrapolation")
        self.defined = np.flatnonzero(~np.isnan(self.sizes[base].p).all(axis=0))
        rng = np.random.default_rng(self.seed)
        self._rows = self.defined[rng.integers(len(self.defined), size=(SAMPLES, len(self.defined)))]
        self._errors = rng.normal(size=SAMPLES)

    @property
    def examples(self) -> int:
        """Number of examples of the pilot with a p-value at the base size."""
        return len(self.defined)

    @property
    def can_fit(self) -> bool:
        """True when the pilot has enough sizes for a fit in n and m."""
        return len(self.sizes) >= MIN_SIZES

    @cached_property
    def _fits(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the mean (SAMPLES, 3) and of the variance (SAMPLES, 2) of the z-scores."""
        rng = np.random.default_rng([self.seed, 1])
        trials = list(self.sizes.values())
        design = np.stack([terms(size.n, size.m) for size in trials])
        lines = np.stack([[1.0, size.n * size.m / (size.n + size.m)] for size in trials])
        z = [size.z for size in trials]
        noise = 1.0 / self.examples + _NOISE**2
        means, variances = np.empty((SAMPLES, 3)), np.empty((SAMPLES, 2))
        for sample, rows in enumerate(self._rows):
            values = [item[rng.integers(len(item), size=(len(item), 1)), rows] for item in z]
            weights = rng.exponential(size=len(trials))
            moments = np.array([_mean_and_variance(item) for item in values])
            means[sample] = _ridge(design, moments[:, 0], weights, noise)
            variances[sample] = _ridge(lines, moments[:, 1], weights, noise)
        variances[:, 1] = np.maximum(variances[:, 1], 0.0)
        return means, variances

    def _pool(self, sample: int, n: int, m: int) -> np.ndarray:
        """Return the p-values (at most R * L,) that a run with n candidates and m references draws from."""
        rows = self._rows[sample]
        exact = self.sizes.get((n, m))
        if exact is not None:
            p = exact.p[:, rows].ravel()
            return p[~np.isnan(p)]
        mean, variance = (coefficients[sample] for coefficients in self._fits)
        base = self.sizes[self.base]
        z = base.z[:, rows].ravel()
        z = z[~np.isnan(z)]
        shift = float((terms(n, m) - terms(base.n, base.m)) @ mean)
        shift += _FORM_ERROR * _distance((n, m), (base.n, base.m)) * self._errors[sample]
        before, after = (
            max(0.25, float(variance @ [1.0, a * b / (a + b)])) for a, b in ((base.n, base.m), (float(n), float(m)))
        )
        centre = z.mean()
        return p_of_z(centre + shift + (z - centre) * np.sqrt(after / before), smallest_p(n, m))

    def draw(self, sample: int, n: int, m: int, examples: int) -> np.ndarray:
        """Return the p-values (examples,) of one simulated run; a run with fewer examples is a prefix of one with more."""
        pool = self._pool(sample, n, m)
        return pool[np.random.default_rng([self.seed, 2, sample]).integers(len(pool), size=examples)]

    def predict(self, n: int, m: int, examples: int) -> Prediction:
        """Return the prediction at one size."""
        p = np.array([self.combine(self.draw(sample, n, m, examples)) for sample in range(SAMPLES)])
        power = np.array([np.mean(self._pool(sample, n, m) <= self.alpha) for sample in range(SAMPLES)])
        low, high = np.quantile(p, [0.025, 0.975])
        power_low, power_high = np.quantile(power, [0.025, 0.975])
        return Prediction(
            float(np.exp(np.log(p).mean())), float(low), float(high), float(power.mean()), float(power_low), float(power_high)
        )  # fmt: skip

    def reaches(self, sample: int, size: tuple[int, int, int], target_p: float | None, power: float | None) -> bool:
        """Return True when a simulated run of the size (n, m, examples) reaches the target."""
        n, m, examples = size
        if power is not None and np.mean(self._pool(sample, n, m) <= self.alpha) < power:
            return False
        return target_p is None or self.combine(self.draw(sample, n, m, examples)) <= target_p


def _mean_and_variance(z: np.ndarray) -> tuple[float, float]:
    """Return mean and variance of the z-scores that are not NaN; NaN for none."""
    values = z[~np.isnan(z)]
    return (float(values.mean()), float(values.var())) if len(values) else (float("nan"), float("nan"))


def _ridge(design: np.ndarray, values: np.ndarray, weights: np.ndarray, noise: float) -> np.ndarray:
    """Return the coefficients (k,) of a weighted least-squares fit with a standard normal prior."""
    valid = ~np.isnan(values)
    x, w = design[valid], weights[valid]
    return np.linalg.solve((x.T * w) @ x + noise * np.eye(x.shape[1]), (x.T * w) @ values[valid])


def steps(low: int, high: int, ratio: float = 1.12) -> list[int]:
    """Return increasing integers from ``low`` to ``high``, each about ``ratio`` times the one before.

    >>> steps(1, 20, 2.0)
    [1, 2, 4, 8, 16, 20]
    """
    out = [low]
    while out[-1] < high:
        out.append(min(high, max(out[-1] + 1, round(out[-1] * ratio))))
    return out


def first_reached(values: Sequence[int], reached: Callable[[int], bool], *, monotone: bool) -> float:
    """Return the smallest of increasing values for which ``reached`` is True, infinity for none.

    With ``monotone`` the values are bisected, otherwise they are tried in turn.

    >>> first_reached([1, 2, 4, 8], lambda value: value > 3, monotone=True)
    4.0
    """
    if not monotone:
        return float(next((value for value in values if reached(value)), np.inf))
    if not reached(values[-1]):
        return float(np.inf)
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(values[middle]) else (middle + 1, high)
    return float(values[high])
