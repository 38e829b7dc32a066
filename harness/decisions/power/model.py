"""Prediction of combined p-values and power at sizes that a pilot does not have.

Power is the probability that a run is rejected by a rule of
:mod:`harness.decisions.power.rules`. It depends on the distribution of the score of one
example, which the pilot estimates.

Examples. A run with more examples than the pilot consists of examples drawn from those
of the pilot with replacement.

Candidates and references. The p-values of the examples are predicted by
:mod:`harness.decisions.power.fit`.

Uncertainty. Three errors enter the intervals.

1. Every prediction is repeated for resamples of the examples (each with the random
   orders of its captions) and for random weights of the fitted sizes. Quantiles of the
   resamples are too narrow for few examples; their levels are those of the expanded
   percentile interval (Hesterberg 2015), which replaces z by t with L - 1 degrees of
   freedom and corrects the variance by L / (L - 1).
2. The form of the fit is not exact; its error is measured on sizes of the pilot that
   are held out.
3. An interval of a p-value also contains the chance of a single run.

References
----------
T. C. Hesterberg (2015), *What Teachers Should Know About the Bootstrap*, The American
Statistician 69(4), section 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.decisions.power.fit import (
    MIN_SIZES,
    Axis,
    SizeFit,
    SizeTrials,
    p_of_z,
    smallest_p,
)
from harness.decisions.power.rules import Composition, Rule, ScoreMoments
from harness.stats.seeds import derive

SAMPLES = 400
"""Number of resamples of the pilot."""
MIN_EXAMPLES = 10
"""Minimum number of examples with a p-value from which other sizes are predicted."""


@dataclass(frozen=True)
class Prediction:
    """Combined p-value, power and share of small p-values at one size,
    each with a 95 % interval.
    """

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
class _ResampledScores:
    """Scores of one example at one size (n, m),
    for the pilot itself (index 0) and its resamples.
    """

    composition: Composition
    moments: ScoreMoments
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

        # The pilot itself is the first row, its resamples are the others.
        count = len(self.defined)
        drawn = np.random.default_rng(self.seed).integers(count, size=(SAMPLES, count))
        self._rows = self.defined[np.vstack([np.arange(count), drawn])]
        self.fit = SizeFit(self.sizes, base, self._rows, self.seed)
        """Fit in n and m."""
        self._cache: dict[tuple[int, int], _ResampledScores] = {}

    @property
    def examples(self) -> int:
        """Number of examples of the pilot with a p-value at the base size."""
        return len(self.defined)

    def can_fit(self, axis: Axis) -> bool:
        """Return True when the pilot has enough sizes for a fit,
        and to measure its error, along an axis.
        """
        return len(self.sizes) >= MIN_SIZES and self.fit.form_error(axis) is not None

    def _resample_scores(self, n: int, m: int) -> _ResampledScores:
        """Return the scores at one size: measured, or from the fit."""
        if (n, m) not in self._cache:
            is_measured = (n, m) in self.sizes
            compute = self._measure_scores if is_measured else self._predict_scores
            self._cache[n, m] = compute(n, m)
        return self._cache[n, m]

    def _sums(self, p: np.ndarray, floors: np.ndarray) -> np.ndarray:
        """Return the sums over the first axis of 1, x, x**2, x**3 and p <= alpha, with
        the scores x of p (R, L); shape (L, 5).
        """
        x = self.rule.scores(p, floors)
        defined = ~np.isnan(x)
        x = np.where(defined, x, 0.0)
        addends = (defined, x, x**2, x**3, p <= self.alpha)
        sums = [values.sum(axis=0) for values in addends]
        return np.stack(sums, axis=-1).astype(np.float64)

    def _measure_scores(self, n: int, m: int) -> _ResampledScores:
        """Return the scores at a size of the pilot."""
        size = self.sizes[n, m]
        sums = self._sums(size.p, size.floors)
        totals = np.array([sums[rows].sum(axis=0) for rows in self._rows])
        used = ~np.isnan(size.p).all(axis=0)
        return _summary(Composition.of(size.floors[used]), totals)

    def _predict_scores(self, n: int, m: int) -> _ResampledScores:
        """Return the scores of examples with n candidates and m references from the
        fit.
        """
        floor = smallest_p(n, m)
        pools = (p_of_z(z, floor)[:, None] for z in self.fit.z_scores(n, m))
        totals = np.array([self._sums(p, np.array(floor)).sum(axis=0) for p in pools])
        return _summary(Composition.of(np.array([floor])), totals)

    def power(self, n: int, m: int, examples: int) -> np.ndarray:
        """Return the probabilities that a run is rejected, shape (SAMPLES + 1,), for
        the pilot itself and its resamples.
        """
        item = self._resample_scores(n, m)
        critical = self.rule.critical(item.composition, examples, self.level)
        return item.moments.tail(critical, examples)

    def shares(self, n: int, m: int) -> np.ndarray:
        """Return the shares of examples with p <= alpha, shape (SAMPLES + 1,), for the
        pilot itself and its resamples.
        """
        return self._resample_scores(n, m).shares

    def predict(self, n: int, m: int, examples: int) -> Prediction:
        """Return the prediction at one size."""
        item = self._resample_scores(n, m)
        rng = np.random.default_rng([self.seed, 2])
        totals = item.moments.draw(examples, rng)[1:]
        levels = [self.levels[0], 0.5, self.levels[1]]
        low, middle, high = np.quantile(totals, levels).tolist()
        # A large sum of scores is a small p.
        p, p_low, p_high = (
            self.rule.p_of_sum(item.composition, examples, total)
            for total in (middle, high, low)
        )
        power = self.interval(self.power(n, m, examples))
        return Prediction(p, p_low, p_high, *power, *self.share_interval(n, m))

    @cached_property
    def levels(self) -> tuple[float, float]:
        """Levels of the quantiles of resamples that are the ends of a 95 % interval
        (see the module).
        """
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        size = max(self.examples, 2)
        quantile = float(special.stdtrit(size - 1, 0.025))
        low = float(special.ndtr(quantile * math.sqrt(size / (size - 1))))
        return low, 1.0 - low

    def interval(self, values: np.ndarray) -> tuple[float, float, float]:
        """Return the value of the pilot and the ends of its 95 % interval, from values
        (SAMPLES + 1,); infinite ones are allowed.
        """
        low = float(np.quantile(values[1:], self.levels[0], method="lower"))
        high = float(np.quantile(values[1:], self.levels[1], method="higher"))
        return float(values[0]), min(low, float(values[0])), max(high, float(values[0]))

    def share_interval(self, n: int, m: int) -> tuple[float, float, float]:
        """Return the share of examples with p <= alpha and a 95 % interval.

        The interval is that of the resamples, but never narrower than Wilson's (1927)
        score interval for a binomial share of the pilot's examples: resamples of few
        hits vary too little.
        """
        share, low, high = self.interval(self.shares(n, m))
        squared = 1.96**2 / self.examples
        centre = (share + squared / 2) / (1 + squared)
        half = math.sqrt(share * (1 - share) * squared + squared**2 / 4) / (1 + squared)
        low = max(0.0, min(low, centre - half))
        high = min(1.0, max(high, centre + half))
        return share, low, high


def _summary(composition: Composition, totals: np.ndarray) -> _ResampledScores:
    """Return the scores with the sums (SAMPLES + 1, 5) of :meth:`Extrapolation._sums`
    over the examples.
    """
    shares = totals[:, 4] / np.maximum(totals[:, 0], 1.0)
    return _ResampledScores(composition, ScoreMoments.of_sums(totals), shares)


def steps(low: int, high: int, ratio: float = 1.12) -> list[int]:
    """Return increasing integers from ``low`` to ``high``,
    each about ``ratio`` times the one before.

    >>> steps(1, 20, 2.0)
    [1, 2, 4, 8, 16, 20]
    """
    out = [low]
    while out[-1] < high:
        out.append(min(high, max(out[-1] + 1, round(out[-1] * ratio))))
    return out
