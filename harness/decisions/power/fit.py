"""Fit of the p-values of examples to their numbers of candidates and references,
and its error.

The p-value of an example becomes the z-score ``z = -Phi^-1(p - f / 2)``, where f is the
smallest p-value of the test, 1 / C(n + m, n). The mean of z over the examples is fitted
on the subsampled sizes of the pilot by

    mean z(n, m) = a + b h,        h = n m / (n + m),

and the variance of z by a line in h, the harmonic size of a two-sample test. The mean
of a metric that scores each candidate alone can fall as candidates are added, which
this form cannot: that axis is refused (:func:`harness.decisions.power.sizes.obstacle`).
The z-scores of the nearest size of the pilot are shifted and scaled to the fitted mean
and variance, and rounded up to a multiple of the new f. ``benchmarks/power.py``
compares this form with others on larger sizes: forms in sqrt(h) predict too little
growth, since p-values of few texts cannot be small.

The form is not exact. For each axis, sizes up to half the pilot's are fitted and
predict those above it, which were measured. The mean square error per unit of distance
from the fitted sizes, less its sampling variance, is averaged with a prior. The error
of a prediction is a t variable times this rate and the distance from the pilot; its
degrees of freedom are the number of held-out numbers of captions plus the weight of the
prior.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from harness.stats.permutation_p_values import plan
from harness.stats.seeds import derive

Axis = Literal["candidates", "references"]
AXES: tuple[Axis, Axis] = ("candidates", "references")
MIN_SIZES = 3
"""Minimum number of sizes for a fit."""
_NOISE = 0.1
"""Standard deviation of the mean z-score about the fitted form that is expected besides
sampling.
"""
_FORM_ERROR = 0.5
"""Prior standard deviation of the error of the fitted form, in units of z per unit of
:func:`_distance` (``benchmarks/power.py``).
"""
_PRIOR_WEIGHT = 2.0
"""Weight of the prior form error, in held-out numbers of captions."""


def smallest_p(n: int, m: int) -> float:
    """Return the smallest p-value of the test of one example with n candidates and m
    references.

    >>> smallest_p(1, 5) == 1 / 6, smallest_p(5, 5) == 1 / 252
    (True, True)
    """
    return plan(n, m).floor


def z_scores(p: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """Return the z-scores of p-values whose smallest possible values are ``floors``;
    shapes broadcast.

    Half a step is subtracted from p, so that z is symmetric about 0 under the null
    hypothesis without ties.

    >>> z_scores(np.array([0.25, 1.0]), np.array(0.25)).round(2).tolist()
    [1.15, -1.15]
    """
    from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs]

    return -np.asarray(ndtri(np.asarray(p) - np.asarray(floors) / 2), dtype=np.float64)


def p_of_z(z: np.ndarray, floor: float) -> np.ndarray:
    """Return the p-values of z-scores, both of shape (L,),
    rounded up to a multiple of ``floor``.

    >>> p_of_z(np.array([0.0, 9.0]), 0.25).tolist()
    [0.5, 0.25]
    """
    from scipy.special import ndtr  # pyright: ignore[reportMissingTypeStubs]

    steps = np.ceil(np.asarray(ndtr(-z), dtype=np.float64) / floor)
    return np.clip(steps * floor, floor, 1.0)


def terms(n: float, m: float) -> np.ndarray:
    """Return the regressors (2,) of the mean z-score at n candidates and m references
    (see the module).
    """
    return np.array([1.0, n * m / (n + m)])


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the Euclidean distance of two sizes (n, m) in sqrt(h) and (n - m) / (n +
    m).
    """
    points = [
        np.array([np.sqrt(n * m / (n + m)), (n - m) / (n + m)]) for n, m in (a, b)
    ]
    return float(np.linalg.norm(points[0] - points[1]))


@dataclass(frozen=True, eq=False)
class SizeTrials:
    """p-values of one metric and model at one size of the pilot."""

    n: float
    m: float
    """``n`` and ``m`` are means over the examples; they differ from the nominal size
    where examples have fewer captions.
    """
    p: np.ndarray
    """p-values, shape (R, L): R random orders, L examples; NaN where undefined."""
    floors: np.ndarray
    """Smallest p-values of the tests of the examples, shape (L,)."""

    @property
    def z(self) -> np.ndarray:
        """z-scores, shape (R, L), NaN where undefined."""
        return z_scores(self.p, self.floors)


@dataclass(frozen=True)
class FormError:
    """Error of the fitted form along one axis."""

    rate: float
    """Standard deviation, in units of z per unit of :func:`_distance`."""
    degrees: float
    """Degrees of freedom: the weight of the prior and the held-out numbers of captions.
    """


class SizeFit:
    """Fit of the mean and the variance of the z-scores in n and m, for a pilot and
    resamples of its examples.

    Parameters
    ----------
    sizes : mapping of (n, m) to SizeTrials
        Sizes of the pilot, all with the same examples.
    base : (int, int)
        The pilot's own numbers of candidates and references, a key of ``sizes``.
    rows : array
        Examples of the resamples, int, shape (S, L); the first row is the pilot itself.
    seed : int
        Seed of the weights of the sizes and of the errors of the form.
    """

    def __init__(
        self,
        sizes: Mapping[tuple[int, int], SizeTrials],
        base: tuple[int, int],
        rows: np.ndarray,
        seed: int,
    ) -> None:
        self.sizes = dict(sizes)
        self.base = base
        self._rows = rows
        self._seed = derive(seed, "fit")

    def form_error(self, axis: Axis) -> FormError | None:
        """Return the error of the fitted form along an axis.

        Sizes of at most half the pilot's number on the axis are fitted and predict the
        others. The variance of their errors over resamples, which is in the intervals
        already, is subtracted from their squares. None where fewer than
        :data:`MIN_SIZES` sizes can be fitted or none is held out.
        """
        return self._form_errors[axis]

    @cached_property
    def _form_errors(self) -> dict[Axis, FormError | None]:
        return {axis: self._hold_out(position) for position, axis in enumerate(AXES)}

    def _hold_out(self, position: int) -> FormError | None:
        """Return the error of the form along an axis, on sizes that are held out."""
        keys = list(self.sizes)
        means = self._moments[..., 0]
        half = self.base[position] / 2
        inner = [
            i
            for i, key in enumerate(keys)
            if key[position] <= half and not np.isnan(means[:, i]).any()
        ]
        if len(inner) < MIN_SIZES:
            return None

        design = np.stack([terms(*keys[i]) for i in inner])
        noise = 1.0 / self._rows.shape[1] + _NOISE**2
        weights = np.ones(len(inner))
        fits = np.array(
            [_ridge(design, row, weights, noise) for row in means[:, inner]]
        )

        # Each size beyond the half is predicted from the largest one within it that has
        # the same number on the other axis.
        rates: dict[int, list[float]] = {}
        for i, key in enumerate(keys):
            anchors = [j for j in inner if keys[j][1 - position] == key[1 - position]]
            if key[position] <= half or not anchors or np.isnan(means[:, i]).any():
                continue
            anchor = max(anchors, key=keys.__getitem__)
            step = fits @ (terms(*key) - terms(*keys[anchor]))
            errors = means[:, anchor] + step - means[:, i]
            # The variance over resamples is in the intervals already.
            excess = float(errors[0] ** 2 - errors[1:].var())
            rate = excess / _distance(key, keys[anchor]) ** 2
            rates.setdefault(key[position], []).append(rate)
        if not rates:
            return None

        square = max(0.0, float(np.mean([np.mean(items) for items in rates.values()])))
        degrees = _PRIOR_WEIGHT + len(rates)
        total = _PRIOR_WEIGHT * _FORM_ERROR**2 + len(rates) * square
        return FormError(math.sqrt(total / degrees), degrees)

    @cached_property
    def _moments(self) -> np.ndarray:
        """Mean and variance of the z-scores of every size, shape (S, K, 2);
        NaN without z-scores.
        """
        counts = np.zeros((len(self._rows), self.sizes[self.base].p.shape[1]))
        np.add.at(counts, (np.arange(len(self._rows))[:, None], self._rows), 1.0)
        out: list[np.ndarray] = []
        for size in self.sizes.values():
            defined = ~np.isnan(size.z)
            z = np.nan_to_num(size.z)
            total, first, second = (counts @ v.sum(axis=0) for v in (defined, z, z**2))
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = first / total
                variance = second / total - mean**2
            out.append(np.stack([mean, variance], axis=-1))
        return np.stack(out, axis=1)

    @cached_property
    def _fits(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the mean (S, 2) and of the variance (S, 2) of the
        z-scores.
        """
        trials = list(self.sizes.values())
        design = np.stack([terms(size.n, size.m) for size in trials])
        weights = np.random.default_rng([self._seed, 1]).exponential(
            size=(len(self._rows), len(trials))
        )
        weights[0] = 1.0  # the pilot itself
        noise = 1.0 / self._rows.shape[1] + _NOISE**2

        pairs = list(zip(self._moments, weights))
        means = np.array(
            [_ridge(design, values[:, 0], w, noise) for values, w in pairs]
        )
        variances = np.array(
            [_ridge(design, values[:, 1], w, noise) for values, w in pairs]
        )
        variances[:, 1] = np.maximum(variances[:, 1], 0.0)
        return means, variances

    def _form_shifts(self, distances: Mapping[Axis, float]) -> np.ndarray:
        """Return random errors of the mean z-score (S,) at distances from the pilot
        along each axis; 0 first.
        """
        from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

        rng = np.random.default_rng([self._seed, 2])
        random = rng.random((len(AXES), len(self._rows)))
        random[:, 0] = 0.5  # the median, for the pilot itself
        shifts = np.zeros(len(self._rows))
        for axis, quantiles in zip(AXES, random):
            error = self.form_error(axis)
            if error is not None:
                deviations = np.asarray(stdtrit(error.degrees, quantiles))
                shifts += error.rate * distances[axis] * deviations
        return shifts

    def z_scores(self, n: int, m: int) -> Iterator[np.ndarray]:
        """Yield for the pilot and each resample the predicted z-scores (at most R * L,)
        at n candidates and m references.
        """
        means, variances = self._fits

        # The nearest size of the pilot, from which first n, then m is changed.
        key = min(n, self.base[0]), min(m, self.base[1])
        anchor = self.sizes.get(key, self.sizes[self.base])
        corner = n, anchor.m
        distances: dict[Axis, float] = {
            "candidates": _distance(corner, (anchor.n, anchor.m)),
            "references": _distance(corner, (n, m)),
        }
        shifts = means @ (terms(n, m) - terms(anchor.n, anchor.m))
        shifts = shifts + self._form_shifts(distances)
        before = np.maximum(0.25, variances @ terms(anchor.n, anchor.m))
        after = np.maximum(0.25, variances @ terms(float(n), float(m)))

        z = anchor.z
        for rows, shift, scale in zip(self._rows, shifts, np.sqrt(after / before)):
            values = z[:, rows]
            values = values[~np.isnan(values)]
            centre = values.mean()
            yield centre + shift + (values - centre) * scale


def _ridge(
    design: np.ndarray, values: np.ndarray, weights: np.ndarray, noise: float
) -> np.ndarray:
    """Return the coefficients (k,) of a weighted least-squares fit with a standard
    normal prior.
    """
    valid = ~np.isnan(values)
    x = design[valid]
    w = weights[valid]
    return np.linalg.solve(
        (x.T * w) @ x + noise * np.eye(x.shape[1]), (x.T * w) @ values[valid]
    )
