"""Prediction of combined p-values and power at sizes that a pilot does not have.

Power is the probability that a run is rejected by a rule of :mod:`harness.analysis.power_rules`. It depends on the distribution of
the score of one example, which the pilot estimates.

Examples. A run with more examples than the pilot consists of examples drawn from those of the pilot with replacement.

Candidates and references. The p-value of an example becomes the z-score ``z = -Phi^-1(p - f / 2)``, where f is the smallest
p-value of the test, 1 / C(n + m, n). The mean of z over the examples is fitted on the subsampled sizes of the pilot by

    mean z(n, m) = sqrt(h) (b + c (n - m) / (n + m)) + e / (n + m),        h = n m / (n + m),

and the variance of z by a line in h. ``b sqrt(h)`` is the growth of a two-sample test with its harmonic size h. The term with c
is the dependence on the ratio n / m: a metric that compares each candidate with all references gains from references and can
lose from candidates. The term with e is the bias of z under many ties in small samples. The z-scores of the nearest size of the
pilot are shifted and scaled to the fitted mean and variance, and rounded up to a multiple of the new f. ``benchmarks/power.py``
compares this form with others on sizes that are held out.

Uncertainty. Three errors enter the intervals.

1. Every prediction is repeated for resamples of the examples (each with the random orders of its captions) and for random weights
   of the fitted sizes. Quantiles of the resamples are too narrow for few examples; their levels are those of the expanded
   percentile interval (Hesterberg 2015), which replaces z by t with L - 1 degrees of freedom and corrects the variance by
   L / (L - 1).
2. The form of the fit is not exact. For each axis, sizes up to half the pilot's are fitted and predict those above it, which were
   measured (:meth:`Extrapolation.form_error`). The error per unit of distance from the fitted sizes is averaged with a prior and
   multiplies the distance of every prediction from the pilot.
3. An interval of a p-value also contains the chance of a single run.

References
----------
T. C. Hesterberg (2015), *What Teachers Should Know About the Bootstrap*, The American Statistician 69(4), section 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from harness.analysis.power_rules import Composition, Moments, Rule
from harness.stats.permutation import plan
from harness.stats.seeds import derive

Axis = Literal["candidates", "references"]
AXES: tuple[Axis, Axis] = ("candidates", "references")
SAMPLES = 400
"""Number of resamples of the pilot."""
MIN_SIZES = 3
"""Minimum number of sizes for a fit."""
MIN_EXAMPLES = 10
"""Minimum number of examples with a p-value from which other sizes are predicted."""
_NOISE = 0.1
"""Standard deviation of the mean z-score about the fitted form that is expected besides sampling."""
_FORM_ERROR = 0.2
"""Prior standard deviation of the error of the fitted form, in units of z per unit of :func:`_distance`."""
_PRIOR_WEIGHT = 2.0
"""Weight of the prior form error, in held-out numbers of captions."""


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
    """Combined p-value, power and share of small p-values at one size, each with a 95 % interval."""

    p: float
    """Median over simulated runs."""
    p_low: float
    p_high: float
    """95 % of the runs of this size are expected between ``p_low`` and ``p_high``."""
    power: float
    """Probability that a run of this size is rejected."""
    power_low: float
    power_high: float
    share: float
    """Share of examples with p <= alpha."""
    share_low: float
    share_high: float


@dataclass(frozen=True, eq=False)
class _Resampled:
    """Scores of one example at one size (n, m), for the pilot itself (index 0) and its resamples."""

    composition: Composition
    moments: Moments
    shares: np.ndarray
    """Shares of examples with p <= alpha, shape (SAMPLES + 1,)."""


class Extrapolation:
    """Power of one metric and model at any size.

    Parameters
    ----------
    sizes : mapping of (n, m) to SizeTrials
        Sizes of the pilot, all with the same examples.
    base : (int, int)
        The pilot's own numbers of candidates and references, a key of ``sizes``.
    rule : Rule
        Combination of the p-values of a run.
    alpha : float
        Significance level of the test of one example, for shares.
    level : float
        Significance level of the combined test of a run, for power.
    seed : int
        Seed of the resamples.
    """

    def __init__(
        self,
        sizes: Mapping[tuple[int, int], SizeTrials],
        base: tuple[int, int],
        rule: Rule,
        alpha: float,
        level: float,
        seed: int,
    ) -> None:
        self.sizes = dict(sizes)
        self.base = base
        self.rule = rule
        self.alpha = alpha
        self.level = level
        self.seed = derive(seed, "extrapolation")
        self.defined = np.flatnonzero(~np.isnan(self.sizes[base].p).all(axis=0))
        rng = np.random.default_rng(self.seed)
        drawn = rng.integers(len(self.defined), size=(SAMPLES, len(self.defined)))
        self._rows = self.defined[np.vstack([np.arange(len(self.defined)), drawn])]
        self._errors = np.vstack([np.zeros(2), rng.normal(size=(SAMPLES, 2))])
        self._cache: dict[tuple[int, int], _Resampled] = {}

    @property
    def examples(self) -> int:
        """Number of examples of the pilot with a p-value at the base size."""
        return len(self.defined)

    def can_fit(self, axis: Axis) -> bool:
        """Return True when the pilot has enough sizes for a fit, and to measure its error, along an axis."""
        return len(self.sizes) >= MIN_SIZES and self.form_error(axis) is not None

    def form_error(self, axis: Axis) -> float | None:
        """Return the standard deviation of the error of the fitted form, in units of z per unit of :func:`_distance`.

        Sizes of at most half the pilot's number on the axis are fitted and predict the others. None where fewer than
        :data:`MIN_SIZES` sizes can be fitted or none is held out.
        """
        return self._form_errors[axis]

    @cached_property
    def _form_errors(self) -> dict[Axis, float | None]:
        rows = self._rows[0]
        means = {key: _mean_and_variance(size.z[:, rows])[0] for key, size in self.sizes.items()}
        means = {key: value for key, value in means.items() if not math.isnan(value)}
        return {axis: self._held_out(means, position) for position, axis in enumerate(AXES)}

    def _held_out(self, means: Mapping[tuple[int, int], float], position: int) -> float | None:
        half = self.base[position] / 2
        inner = [key for key in means if key[position] <= half]
        if len(inner) < MIN_SIZES:
            return None
        design = np.stack([terms(*key) for key in inner])
        values = np.array([means[key] for key in inner])
        fit = _ridge(design, values, np.ones(len(inner)), 1.0 / self.examples + _NOISE**2)
        rates: dict[int, list[float]] = {}
        for key in means:
            other = key[1 - position]
            anchors = [item for item in inner if item[1 - position] == other]
            if key[position] <= half or not anchors:
                continue
            anchor = max(anchors)
            predicted = means[anchor] + float((terms(*key) - terms(*anchor)) @ fit)
            rates.setdefault(key[position], []).append((predicted - means[key]) / _distance(key, anchor))
        if not rates:
            return None
        square = float(np.mean([np.mean(np.square(items)) for items in rates.values()]))
        return math.sqrt((_PRIOR_WEIGHT * _FORM_ERROR**2 + len(rates) * square) / (_PRIOR_WEIGHT + len(rates)))

    @cached_property
    def _fits(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the mean (SAMPLES + 1, 3) and of the variance (SAMPLES + 1, 2) of the z-scores."""
        rng = np.random.default_rng([self.seed, 1])
        trials = list(self.sizes.values())
        design = np.stack([terms(size.n, size.m) for size in trials])
        lines = np.stack([[1.0, size.n * size.m / (size.n + size.m)] for size in trials])
        z = [size.z for size in trials]
        noise = 1.0 / self.examples + _NOISE**2
        means, variances = np.empty((SAMPLES + 1, 3)), np.empty((SAMPLES + 1, 2))
        for sample, rows in enumerate(self._rows):
            weights = rng.exponential(size=len(trials)) if sample else np.ones(len(trials))
            moments = np.array([_mean_and_variance(item[:, rows]) for item in z])
            means[sample] = _ridge(design, moments[:, 0], weights, noise)
            variances[sample] = _ridge(lines, moments[:, 1], weights, noise)
        variances[:, 1] = np.maximum(variances[:, 1], 0.0)
        return means, variances

    def _resampled(self, n: int, m: int) -> _Resampled:
        if (n, m) not in self._cache:
            self._cache[n, m] = self._measured(n, m) if (n, m) in self.sizes else self._fitted(n, m)
        return self._cache[n, m]

    def _sums(self, p: np.ndarray, floors: np.ndarray) -> np.ndarray:
        """Return the sums over the first axis of 1, x, x**2, x**3 and p <= alpha, with the scores x of p (R, L); shape (L, 5)."""
        x = self.rule.scores(p, floors)
        defined = ~np.isnan(x)
        x = np.where(defined, x, 0.0)
        return np.stack([v.sum(axis=0) for v in (defined, x, x**2, x**3, p <= self.alpha)], axis=-1).astype(np.float64)

    def _measured(self, n: int, m: int) -> _Resampled:
        size = self.sizes[n, m]
        sums = self._sums(size.p, size.floors)
        totals = np.array([sums[rows].sum(axis=0) for rows in self._rows])
        used = ~np.isnan(size.p).all(axis=0)
        return _summary(Composition.of(size.floors[used]), totals)

    def _fitted(self, n: int, m: int) -> _Resampled:
        """Return the scores of examples with n candidates and m references from the fit."""
        means, variances = self._fits
        key = min(n, self.base[0]), min(m, self.base[1])
        anchor = self.sizes.get(key, self.sizes[self.base])
        distances = np.array([_distance((n, anchor.m), (anchor.n, anchor.m)), _distance((n, anchor.m), (n, m))])
        rates = np.array([self.form_error(axis) or 0.0 for axis in AXES])
        shifts = means @ (terms(n, m) - terms(anchor.n, anchor.m)) + self._errors @ (rates * distances)
        before, after = (
            np.maximum(0.25, variances @ [1.0, a * b / (a + b)])
            for a, b in ((anchor.n, anchor.m), (float(n), float(m)))
        )
        floor, z = smallest_p(n, m), anchor.z
        totals = np.empty((len(self._rows), 5))
        for sample, rows in enumerate(self._rows):
            values = z[:, rows]
            values = values[~np.isnan(values)]
            scaled = (
                values.mean() + shifts[sample] + (values - values.mean()) * math.sqrt(after[sample] / before[sample])
            )
            totals[sample] = self._sums(p_of_z(scaled, floor)[:, None], np.array(floor)).sum(axis=0)
        return _summary(Composition.of(np.array([floor])), totals)

    def power(self, n: int, m: int, examples: int) -> np.ndarray:
        """Return the probabilities that a run is rejected, shape (SAMPLES + 1,), for the pilot itself and its resamples."""
        item = self._resampled(n, m)
        return item.moments.tail(self.rule.critical(item.composition, examples, self.level), examples)

    def shares(self, n: int, m: int) -> np.ndarray:
        """Return the shares of examples with p <= alpha, shape (SAMPLES + 1,), for the pilot itself and its resamples."""
        return self._resampled(n, m).shares

    def predict(self, n: int, m: int, examples: int) -> Prediction:
        """Return the prediction at one size."""
        item = self._resampled(n, m)
        rng = np.random.default_rng([self.seed, 2])
        totals = item.moments.draw(examples, rng)[1:]
        low, middle, high = (float(v) for v in np.quantile(totals, [self.levels[0], 0.5, self.levels[1]]))
        p, p_low, p_high = (self.rule.p_of_sum(item.composition, examples, value) for value in (middle, high, low))
        power = self.interval(self.power(n, m, examples))
        return Prediction(p, p_low, p_high, *power, *self.share_interval(n, m))

    @cached_property
    def levels(self) -> tuple[float, float]:
        """Levels of the quantiles of resamples that are the ends of a 95 % interval (see the module)."""
        from scipy.special import ndtr, stdtrit  # pyright: ignore[reportMissingTypeStubs]

        size = max(self.examples, 2)
        low = float(ndtr(stdtrit(size - 1, 0.025) * math.sqrt(size / (size - 1))))
        return low, 1.0 - low

    def interval(self, values: np.ndarray) -> tuple[float, float, float]:
        """Return the value of the pilot and the ends of its 95 % interval, from values (SAMPLES + 1,); infinite ones are allowed."""
        low = float(np.quantile(values[1:], self.levels[0], method="lower"))
        high = float(np.quantile(values[1:], self.levels[1], method="higher"))
        return float(values[0]), min(low, float(values[0])), max(high, float(values[0]))

    def share_interval(self, n: int, m: int) -> tuple[float, float, float]:
        """Return the share of examples with p <= alpha and a 95 % interval.

        The interval is that of the resamples, but never narrower than Wilson's (1927) score interval for a binomial share of the
        pilot's examples: resamples of few hits vary too little.
        """
        share, low, high = self.interval(self.shares(n, m))
        squared = 1.96**2 / self.examples
        centre = (share + squared / 2) / (1 + squared)
        half = math.sqrt(share * (1 - share) * squared + squared**2 / 4) / (1 + squared)
        return share, max(0.0, min(low, centre - half)), min(1.0, max(high, centre + half))


def _summary(composition: Composition, totals: np.ndarray) -> _Resampled:
    return _Resampled(composition, Moments.of_sums(totals), totals[:, 4] / np.maximum(totals[:, 0], 1.0))


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
