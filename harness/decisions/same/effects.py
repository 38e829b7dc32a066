"""Intervals of the two numbers that say how far two sources are apart: their squared
MMD, and the accuracy on held-out prompts.

Both are sums over pairs of texts (of one prompt, or of a training and a test prompt),
products of noise where the sources are equal. A t interval over prompts is too narrow
there: squared distances of few prompts are skewed, and two folds of the accuracy use
each other's prompts, so that each product of noise counts twice. Relabelings have that
noise exactly: an interval leaves the number of equal sources out only where relabelings
seldom reach the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.stats.quantiles import normal_quantile, student_quantile
from harness.stats.stratified_test import Relabelings, Stratum

FOLDS = 5
"""Parts of the prompts that are held out in turn, for the accuracy."""
DRAWS = 199
"""Maximum number of random relabelings with which the accuracy is compared."""
TIE = 1e-12
"""Largest difference of two scores that counts as none."""
_SCORES = 1 << 20
"""Maximum number of scores that are held at once."""


@dataclass(frozen=True)
class Effect:
    """A number with its 95 % interval."""

    value: float | None
    """None where no prompt has it."""
    interval: tuple[float, float] | None = None
    upper: float | None = None
    """Upper bound at 95 %, one-sided."""
    reason: str = ""
    """Reason why there is no interval."""

    def without_interval(self, reason: str) -> Effect:
        """Return the number alone, with the reason."""
        return Effect(self.value, reason=reason)


def degrees_of_freedom(texts: int) -> float:
    """Return N (N - 3) / 2, the dimension of the centred kernels of N texts.

    The squared distance of two sources has at most this many times its variance under
    relabeling, when the kernel says nothing but the source.
    """
    return texts * (texts - 3) / 2


def effect_over_prompts(
    values: np.ndarray, totals: np.ndarray, freedom: np.ndarray
) -> Effect:
    """Return the mean squared MMD of prompts, with an interval.

    The target is the mean over prompts of the squared distance of the distributions
    that the answers are drawn from, for prompts that vary as those that were asked; of
    a metric, its expected excess over its mean under relabeling. A change of prompts of
    a kind that was not asked is not bounded.

    The lower end is that of Student's t over prompts, and above 0 only where at most
    2.5 % of the relabelings reach the estimate. Upwards Student's t is too short: the
    distances are skewed, and few prompts with a small mean have a small spread too. The
    spread under relabeling, which does not share that error, is added in quadrature,
    without the part that the difference of the sources has in it. The target is never
    below 0: with an estimate below, the upper end is at least as far above 0 as a half
    width.

    Parameters
    ----------
    values : ndarray, shape (B,)
        Unbiased squared MMD of each prompt; NaN does not count.
    totals : ndarray, shape (P,)
        Sums over prompts under all relabelings, the observed one first.
    freedom : ndarray, shape (B,)
        :func:`degrees_of_freedom` of each prompt; infinite for a metric.
    """
    defined = ~np.isnan(values)
    values = values[defined]
    freedom = freedom[defined]
    if not len(values):
        return Effect(None, reason="it needs two answers of each source to a prompt")
    value = float(values.mean())
    prompts = len(values)
    if prompts < 2:
        return Effect(value, reason="it needs two prompts")

    error = float(values.std(ddof=1)) / math.sqrt(prompts)
    null = totals / prompts
    if error == 0 and np.ptp(null) <= TIE:
        return Effect(value, reason="no prompt differs from another")
    # The part of the spread under relabeling that the difference of the sources makes.
    of_difference = float((values**2 / freedom).sum()) / prompts**2
    noise = math.sqrt(max(float(null.var()) - of_difference, 0.0))

    def upper_end(level: float) -> float:
        half = error * student_quantile(prompts - 1, level)
        raised = value + math.hypot(half, noise * normal_quantile(level))
        return max(raised, half, _largest_seldom_exceeded(-null, 1 - level))

    low = value - error * student_quantile(prompts - 1, 0.975)
    if value <= _largest_seldom_exceeded(null, 0.025):
        low = min(low, 0.0)
    return Effect(value, (low, upper_end(0.975)), upper_end(0.95))


def _largest_seldom_exceeded(values: np.ndarray, share: float) -> float:
    """Return the smallest of the values that at most a share of them exceeds: the
    observed one of equal sources no more often.

    >>> _largest_seldom_exceeded(np.arange(40.0), 0.025)
    38.0
    """
    exceed = min(int(share * len(values) + 1e-9), len(values) - 1)
    return float(np.sort(values)[len(values) - 1 - exceed])


def held_out_accuracy(
    strata: Sequence[Stratum], features: np.ndarray, draws: int, seed: int
) -> Effect:
    """Return the share of pairs of answers, one of each source, that shifts of other
    prompts put in the right order, with an interval.

    Prompts are divided into :data:`FOLDS` parts. Of each part the answers are scored by
    the differences of features between the sources in the other parts. The target is
    the expected accuracy at this training size, four fifths of these many prompts with
    these many answers, not that of the best weights, which more prompts approach.

    Given the weights, prompts are independent, and the variance is that of their shares
    over the number of prompts. The weights of two parts are learnt on each other's
    prompts: with equal sources the accuracy is a sum over ordered pairs of parts that
    counts each pair twice, which doubles the variance. Where the sources differ the
    weights are surer, and twice the variance is more than enough. .5 is left out only
    where at most 2.5 % of the relabelings are as far from it.

    Parameters
    ----------
    strata : sequence of Stratum
        The prompts.
    features : ndarray, shape (T, F)
        Features of the texts.
    draws, seed : int
        Number of random relabelings, of which :data:`DRAWS` are used, and their seed.
    """
    prompts = sum(len(stratum.prompts) for stratum in strata)
    relabelings = Relabelings(strata, min(draws, DRAWS), seed, budget=DRAWS)
    shifts, squares = _shifts_of_folds(relabelings, features)
    shares = np.empty(prompts)
    null = np.zeros(relabelings.number)
    for block, labels in relabelings.blocks():
        for fold in range(FOLDS):
            positions = np.flatnonzero(block.prompts % FOLDS == fold)
            of_others = shifts.sum(axis=0) - shifts[fold]
            weights = of_others / (squares.sum(axis=0) - squares[fold] + TIE)
            step = max(1, _SCORES // (relabelings.number * block.rows.shape[1]))
            for some in np.split(positions, range(step, len(positions), step)):
                scores = _centre(features[block.rows[some]]) @ weights.T
                right = _share_in_order(scores, labels[some], block.n)
                null += right.sum(axis=0)
                shares[block.prompts[some]] = right[:, 0]

    value = float(shares.mean())
    if prompts < 2:
        return Effect(value, reason="it needs two prompts")
    null /= prompts
    sampling = float(shares.var(ddof=1)) / prompts
    if sampling == 0:
        return Effect(value, reason="no prompt differs from another")
    error = math.sqrt(2 * sampling)

    def upper_end(level: float) -> float:
        high = value + error * student_quantile(prompts - 1, level)
        if -value <= _largest_seldom_exceeded(-null, 1 - level):
            high = max(high, 0.5)
        return min(high, 1.0)

    low = value - error * student_quantile(prompts - 1, 0.975)
    if value <= _largest_seldom_exceeded(null, 0.025):
        low = min(low, 0.5)
    return Effect(value, (max(low, 0.0), upper_end(0.975)), upper_end(0.95))


def _shifts_of_folds(
    relabelings: Relabelings, features: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums over the texts of A of the centred features of each fold, (FOLDS,
    P, F), and of their squares, (FOLDS, F).
    """
    shifts = np.zeros((FOLDS, relabelings.number, features.shape[1]))
    squares = np.zeros((FOLDS, features.shape[1]))
    for block, labels in relabelings.blocks():
        values = _centre(features[block.rows])
        for fold in range(FOLDS):
            is_in = block.prompts % FOLDS == fold
            shifts[fold] += np.tensordot(
                labels[is_in], values[is_in], axes=((0, 2), (0, 1))
            )
            squares[fold] += (values[is_in] ** 2).sum(axis=(0, 1))
    return shifts, squares


def _centre(values: np.ndarray) -> np.ndarray:
    """Return the values of texts (b, N, F) minus their means over the texts of each
    prompt.
    """
    return values - values.mean(axis=1, keepdims=True)


def _share_in_order(scores: np.ndarray, labels: np.ndarray, n: int) -> np.ndarray:
    """Return the share of pairs of an answer of A and one of B whose scores (b, N, P)
    are in this order, shape (b, P); a tie is half.

    Pairs of two answers of A cancel: the sum over the answers of A of (answers below -
    answers above) is that over pairs of A and B.
    """
    size = scores.shape[1]
    total = np.zeros((len(scores), scores.shape[2]))
    for k in range(size):
        gaps = scores[:, k : k + 1] - scores
        balance = (gaps > TIE).sum(axis=1) - (gaps < -TIE).sum(axis=1)
        total += balance * labels[:, :, k]
    return 0.5 + 0.5 * total / (n * (size - n))
