"""The gate at its margin: how often a version passes, or fails,
whose true worsening equals the margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from benchmarks.promises.populations import (
    CLUSTERS,
    MEAN_ZERO,
    WORSE,
    Clusters,
    Population,
    unseen_populations,
)
from benchmarks.promises.promise import Cell, Promise
from harness.decisions.statistics.bounded_mean import BoundedMean
from harness.decisions.statistics.one_sided import SkewedMean
from harness.decisions.statistics.paired_shares import PairedShares
from harness.decisions.statistics.sample_size import LEVEL

SIZES = (10, 20, 50, 100, 200, 500)
"""Numbers of examples, or of clusters."""
RUNS = 4000
"""Runs of a cell of the full measurement, and of a quick one whose rate is near its
goal.
"""
QUICK = 200
"""Runs of a cell of the quick measurement."""
PAGE = ("docs/comparisons.md",)
SHARES = ((0.01, 0.0), (0.05, 0.0), (0.2, 0.0), (0.02, 0.01), (0.1, 0.1))
"""Shares of broken and of improved answers."""
PARTIAL = 0.5
"""Score of an answer that is neither right nor wrong."""
PValues = tuple[float, float]
"""P-values of the hypotheses that the worsening is at least, and at most, the margin.
"""
AT_THE_MARGIN = (
    "a version whose true worsening equals the margin passes, or fails, "
    "with probability"
)


def count_decisions(case: str, n: int, p_values: Iterable[PValues]) -> list[Cell]:
    """Return the cells of the runs of a case that pass and that fail."""
    decided = np.array(list(p_values)) <= LEVEL
    return [
        Cell(f"{case}, n = {n}, {verdict}", int(decided[:, side].sum()), len(decided))
        for side, verdict in enumerate(("pass", "fail"))
    ]


def decide_mean(mean: BoundedMean | SkewedMean, margin: float) -> PValues:
    """Return the p-values of a mean."""
    return mean.p_below(margin), mean.p_above(margin)


def measure_bounded(full: bool) -> list[Cell]:
    """Measure means within bounds, also of clusters of which some break."""
    runs = RUNS if full else QUICK
    cells = list[Cell]()
    for number, population in enumerate((*WORSE, *MEAN_ZERO)):
        if population.bounds is None:
            continue
        for n in SIZES:
            draws = population.draw(np.random.default_rng([number, n]), (runs, n))
            means = (
                BoundedMean.of_values(values, *population.bounds) for values in draws
            )
            cells += count_decisions(
                population.name,
                n,
                [decide_mean(mean, population.mean) for mean in means],
            )
    for number, clusters in enumerate(CLUSTERS):
        for n in SIZES:
            rng = np.random.default_rng([100 + number, n])
            case = (
                f"half of the answers of a tenth of the clusters break, {clusters.name}"
            )
            cells += count_decisions(
                case,
                n,
                [
                    decide_mean(break_clusters(clusters, n, rng), 0.05)
                    for _ in range(runs)
                ],
            )
    return cells


def break_clusters(clusters: Clusters, n: int, rng: np.random.Generator) -> BoundedMean:
    """Return the share of broken answers of clusters;
    a tenth of the clusters loses half of its answers.
    """
    sizes = clusters.sizes(rng, n)
    broken = rng.binomial(sizes, np.where(rng.random(n) < 0.1, 0.5, 0.0))
    return BoundedMean(broken.astype(np.float64), sizes.astype(np.float64), -1.0, 1.0)


def measure_answers(full: bool) -> list[Cell]:
    """Measure right and wrong answers."""
    cells: list[Cell] = []
    for number, (lost, improved) in enumerate(SHARES):
        for n in SIZES:
            rng = np.random.default_rng([200 + number, n])
            counts = rng.multinomial(
                n, [lost, improved, 1 - lost - improved], RUNS if full else QUICK
            )
            found = [
                decide_answers(int(b), int(i), n, lost - improved) for b, i, _ in counts
            ]
            cells += count_decisions(
                f"{lost:.0%} break and {improved:.0%} improve", n, found
            )
    return cells


@cache
def decide_answers(broken: int, improved: int, n: int, margin: float) -> PValues:
    """Return the p-values of right and wrong answers; counts recur among the runs."""
    shares = PairedShares(broken, improved, n)
    return shares.p_below(margin), shares.p_above(margin)


def measure_lookalikes(full: bool) -> list[Cell]:
    """Measure scores of a log that look right or wrong in many samples, and are not: a
    few answers are partly right.
    """
    cells: list[Cell] = []
    for number, lost in enumerate((0.01, 0.05)):
        for expected in (0.3, 1.0, 3.0):
            for n in SIZES:
                rng = np.random.default_rng([300 + number, int(10 * expected), n])
                share = min(expected / n, 0.4)
                counts = rng.multinomial(
                    n, [lost, share, 1 - lost - share], RUNS if full else QUICK
                )
                found = [
                    decide_lookalikes(int(b), int(p), n, lost + share * PARTIAL)
                    for b, p, _ in counts
                ]
                cells += count_decisions(
                    f"{lost:.0%} break, {expected:g} answers of a run lose {PARTIAL:g}",
                    n,
                    found,
                )
    return cells


@cache
def decide_lookalikes(broken: int, partial: int, n: int, margin: float) -> PValues:
    """Return the p-values of a score that no name declares to be right or wrong."""
    if not partial:
        p_pass, p_fail = decide_answers(broken, 0, n, margin)
        return 2 * p_pass, 2 * p_fail
    values = np.repeat([1.0, PARTIAL, 0.0], [broken, partial, n - broken - partial])
    return decide_mean(SkewedMean.of(float(values.mean()), values), margin)


def measure_unbounded(full: bool) -> list[Cell]:
    """Measure numbers without declared bounds."""
    return measure_populations([*WORSE, *MEAN_ZERO], 400)


def measure_unseen(full: bool) -> list[Cell]:
    """Measure numbers without declared bounds on populations that nothing was tuned
    on.
    """
    return measure_populations(unseen_populations(), 500)


def measure_populations(populations: Sequence[Population], seed: int) -> list[Cell]:
    """Return the cells of independent differences."""
    cells: list[Cell] = []
    for number, population in enumerate(populations):
        for n in SIZES:
            draws = population.draw(
                np.random.default_rng([seed + number, n]), (RUNS, n)
            )
            means = (SkewedMean.of(float(values.mean()), values) for values in draws)
            cells += count_decisions(
                population.name,
                n,
                [decide_mean(mean, population.mean) for mean in means],
            )
    return cells


def measure_clusters(full: bool) -> list[Cell]:
    """Measure ratios of sums over clusters without declared bounds."""
    cells: list[Cell] = []
    for number, clusters in enumerate(CLUSTERS):
        for n in SIZES:
            rng = np.random.default_rng([600 + number, n])
            cells += count_decisions(
                clusters.name,
                n,
                [
                    decide_mean(average_clusters(clusters, n, rng), 0.0)
                    for _ in range(RUNS)
                ],
            )
    return cells


def average_clusters(
    clusters: Clusters, n: int, rng: np.random.Generator
) -> SkewedMean:
    """Return the mean over the examples of clusters, whose truth is 0."""
    values, numbers = clusters.draw(rng, n)
    sums = np.bincount(numbers, values)
    sizes = np.bincount(numbers).astype(np.float64)
    ratio = float(sums.sum() / sizes.sum())
    return SkewedMean.of(ratio, (sums - ratio * sizes) / sizes.mean())


PROMISES = (
    Promise(
        "gate-bounded",
        f"gate, a metric with declared bounds: {AT_THE_MARGIN} .05 at most",
        PAGE,
        LEVEL,
        measure_bounded,
    ),
    Promise(
        "gate-answers",
        f"gate, right and wrong answers: {AT_THE_MARGIN} .05 at most",
        PAGE,
        LEVEL,
        measure_answers,
    ),
    Promise(
        "gate-lookalikes",
        f"gate, scores that only look right or wrong: {AT_THE_MARGIN} .05 at most",
        PAGE,
        LEVEL,
        measure_lookalikes,
    ),
    Promise(
        "gate-unbounded",
        f"gate, a number without declared bounds: {AT_THE_MARGIN} .06 at most",
        PAGE,
        0.06,
        measure_unbounded,
        exact=True,
    ),
    Promise(
        "gate-unseen",
        "gate, a number without declared bounds, on populations that no rule was "
        f"tuned on: {AT_THE_MARGIN} .06 at most",
        PAGE,
        0.06,
        measure_unseen,
        exact=True,
    ),
    Promise(
        "gate-clusters",
        "gate, a number without declared bounds of clustered examples: "
        f"{AT_THE_MARGIN} .06 at most",
        PAGE,
        0.06,
        measure_clusters,
        exact=True,
    ),
)
