"""Promises of intervals: of shares and of numbers at a bound,
and of agreement with people where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from benchmarks.agreement_coverage import SIZES as ITEMS
from benchmarks.agreement_coverage import STATISTICS, cells
from benchmarks.promises.populations import SIZES
from benchmarks.promises.promise import Cell, Promise
from harness.contracts import MeanMetric, MetricSpec
from harness.judgments.coverage import COVERAGE
from harness.run.coverage_tables import LOWEST
from harness.run.intervals import nominal_estimate
from harness.stats.quantiles import wilson_interval

SHARES = np.linspace(0.001, 0.999, 999)
"""Shares of right answers."""
EXACT = 1_000_000
"""Runs that stand for an exact probability."""


class Share(MeanMetric):
    """Mean of scores from 0 to 1."""

    spec = MetricSpec("share", True, bounds=(0.0, 1.0))


@cache
def share_coverages(n: int) -> np.ndarray:
    """Return the exact coverage of Wilson's interval of n right and wrong answers for
    each of :data:`SHARES`.
    """
    counts = np.arange(n + 1)
    ends = np.array([wilson_interval(count / n, n) for count in counts])
    steps = np.log(np.arange(1, n + 1))
    log_choices = np.concatenate([[0.0], np.cumsum(steps[::-1] - steps)])
    log_shares = np.log(SHARES)[:, None]
    log_rests = np.log1p(-SHARES)[:, None]
    probabilities = np.exp(log_choices + counts * log_shares + (n - counts) * log_rests)
    covered = (ends[:, 0] <= SHARES[:, None]) & (SHARES[:, None] <= ends[:, 1])
    return (probabilities * covered).sum(axis=1)


def measure_shares(summary: Callable[[np.ndarray], float]) -> Sequence[Cell]:
    """Return the mean or the lowest coverage over all shares by the number of
    examples.
    """
    return [
        Cell(f"{n} examples", round(float(summary(share_coverages(n))) * EXACT), EXACT)
        for n in SIZES
    ]


def mean_of_shares(full: bool) -> Sequence[Cell]:
    """Return the mean coverage of intervals of shares."""
    return measure_shares(np.mean)


def lowest_of_shares(full: bool) -> Sequence[Cell]:
    """Return the lowest coverage of intervals of shares."""
    return measure_shares(np.min)


def mostly_zero(full: bool) -> Sequence[Cell]:
    """Return the coverage of means of scores most of which are 0, as those of BLEU-4:
    of a share where all are, of resamples else.
    """
    runs = 2000 if full else 250
    found: list[Cell] = []
    for positive in (0.02, 0.1):
        for n in (5, 10, 20, 50):
            rng = np.random.default_rng([n, round(100 * positive)])
            hits = 0
            for run in range(runs):
                scores = np.where(
                    rng.random(n) < positive, 0.2 + 0.6 * rng.random(n), 0.0
                )
                ends = nominal_estimate(Share(), scores[:, None], 1000, run // 50)[
                    1
                ].ends
                hits += ends is not None and ends[0] <= 0.5 * positive <= ends[1]
            found.append(
                Cell(f"{positive:.0%} of the scores above 0, {n} examples", hits, runs)
            )
    return found


def agreement(full: bool) -> Sequence[Cell]:
    """Return the coverage of the intervals of each statistic at the number of items
    from which on they are printed, and beyond.
    """
    runs = 1000 if full else 200
    found: list[Cell] = []
    for statistic in STATISTICS:
        if statistic == "soft_pairwise_accuracy" and not full:
            continue
        coverages = COVERAGE[statistic]
        printed = [
            size
            for size in ITEMS
            if size in coverages
            and all(coverages[k] >= LOWEST for k in coverages if k >= size)
        ]
        for items in printed if full else printed[:1]:
            found += [
                Cell(f"{statistic}, {items} items, {case}", hits, count)
                for case, hits, count in cells(statistic, items, runs)
            ]
    return found


PROMISES = (
    Promise(
        name="intervals-shares",
        sentence="Wilson's interval of a share covers .95 on average over the shares",
        places=("docs/methods.md",),
        goal=0.94,
        measure=mean_of_shares,
        at_least=True,
        exact=True,
    ),
    Promise(
        name="intervals-shares-lowest",
        sentence="Wilson's interval covers .83 at least: just beyond the share of one "
        "example, near 0 and 1",
        places=("docs/methods.md",),
        goal=0.83,
        measure=lowest_of_shares,
        at_least=True,
        exact=True,
    ),
    Promise(
        name="intervals-zeros",
        sentence="A mean of scores of which most are 0 has an interval "
        "that covers .90 at least",
        places=("docs/methods.md",),
        goal=0.90,
        measure=mostly_zero,
        at_least=True,
    ),
    Promise(
        name="intervals-agreement",
        sentence="Agreement with people has an interval "
        "from so many items on as cover .90",
        places=("docs/judgments.md",),
        goal=LOWEST,
        measure=agreement,
        at_least=True,
    ),
)
