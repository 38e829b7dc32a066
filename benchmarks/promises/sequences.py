"""False alarms of confidence sequences that are looked at after every example, and the
truth at the stop of ``METRIC ± WIDTH``.

Whole runs are simulated: the conditions under which an asymptotic sequence begins are
looked at as often as the sequence itself. The runs of a case are computed at once, from
cumulative sums; the first one is compared with
:func:`harness.stats.anytime.asymptotic_looks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import log, sqrt

import numpy as np

from benchmarks.promises.populations import (
    CLUSTERS,
    MEAN_ZERO,
    Clusters,
    Population,
    unseen_populations,
)
from benchmarks.promises.promise import Cell, Promise
from harness.run.stopping import BATCH, batches
from harness.stats.anytime import (
    FIRST_LOOK,
    FRACTIONS,
    LEVEL,
    asymptotic_looks,
    betting_looks,
)
from harness.stats.readiness import CARRIERS, OPPOSITE, VALUES
from harness.stats.seeds import derive

PAGE = "docs/comparisons.md"
GOAL = 0.06
RUNS = 4000
LENGTH = 2000
"""Runs of each case of a full measurement, and units of each run,
with a look after every one.
"""
QUICK_RUNS = 500
QUICK_LENGTH = 1000
BATCHED = 5000
"""Examples of the runs that are looked at after the batches of ``--until``."""
CHUNK = 250
"""Runs that are computed at once."""
WIDTHS = (0.06, 0.12, 0.24)
"""Half-widths of ``METRIC ± WIDTH``, in standard deviations of the scores."""
BINOMIAL = {2: (1, -2, 1), 4: (1, -4, 6, -4, 1)}
"""Signed coefficients of (x - y) to a power."""


@dataclass(frozen=True)
class Paths:
    """Asymptotic sequences of R runs at looks after 1 to n units,
    arrays of shape (R, n).
    """

    value: np.ndarray
    radius: np.ndarray
    """Infinite where a sequence has no interval yet."""

    def excludes(self, truth: float) -> np.ndarray:
        """Return whether each look excludes a number, shape (R, n)."""
        return np.abs(self.value - truth) > self.radius


def find_paths(
    sums: np.ndarray,
    sizes: np.ndarray | None = None,
    reach: float | None = None,
    *,
    paired: bool = True,
    conditions: bool = True,
) -> Paths:
    """Return the asymptotic sequences of a ratio of sums, as
    :func:`harness.stats.anytime.asymptotic_looks` gives them.

    Parameters
    ----------
    sums : ndarray
        Sum of the differences, or of the scores, of each unit, shape (R, n).
    sizes : ndarray, optional
        Number of examples of each unit, shape (R, n); default: 1.
    reach : float, optional
        Range of the score; None: it has none.
    paired : bool
        The values are differences of two systems.
    conditions : bool
        False: the sequence begins at :data:`~harness.stats.anytime.FIRST_LOOK` whatever
        the sample shows, and knows no range.
    """
    counts = np.arange(1, sums.shape[1] + 1)
    weights = np.ones((1, 1)) if sizes is None else sizes
    mean_size = np.ones(1) if sizes is None else np.cumsum(sizes, axis=1) / counts
    value = np.cumsum(sums, axis=1) / counts / mean_size

    def central_moment(power: int) -> np.ndarray:
        """Return the mean of (sums - value * sizes) to a power, of the units up to each
        look, by Horner's rule in the value.
        """
        total = np.zeros(sums.shape)
        for k in reversed(range(power + 1)):
            product = np.broadcast_to(BINOMIAL[power][k], sums.shape)
            for factor in [sums] * (power - k) + [weights] * (
                k if sizes is not None else 0
            ):
                product = product * factor
            total = total * value + np.cumsum(product, axis=1) / counts
        return total

    variance = np.maximum(central_moment(2), 0.0)
    begun = np.broadcast_to(counts >= FIRST_LOOK, sums.shape)
    missing = np.ones(1)
    if conditions:
        # What is left of equal values is the rounding of their squares.
        has_spread = variance > 1e-12 * np.cumsum(sums**2, axis=1) / counts
        carriers = (
            counts
            * np.where(has_spread, variance, 0.0) ** 2
            / np.maximum(central_moment(4), 1e-300)
        )
        begun = begun & has_spread
        missing = np.maximum(1.0, CARRIERS / np.maximum(carriers, 1.0))
    if conditions and reach is None:
        begun &= (missing == 1.0) & (count_values(sums) >= VALUES)
        begun &= not paired or (
            np.minimum(np.cumsum(sums > 0, axis=1), np.cumsum(sums < 0, axis=1))
            >= OPPOSITE
        )

    rho = sqrt((-2 * log(LEVEL) + log(-2 * log(LEVEL) + 1)) / FIRST_LOOK)
    growth = counts * rho**2 + 1
    radius = (
        np.sqrt(missing * variance)
        / mean_size
        * np.sqrt(2 * growth / (counts * rho) ** 2 * np.log(np.sqrt(growth) / LEVEL))
    )
    if conditions and reach is not None:
        largest = np.ones(1) if sizes is None else np.maximum.accumulate(sizes, axis=1)
        radius = np.maximum(
            radius, reach * largest / mean_size * log(2 / LEVEL) / counts
        )
    return Paths(value, np.where(begun, radius, np.inf))


def count_values(rows: np.ndarray) -> np.ndarray:
    """Return the number of different values among the first 1 to n of each row,
    shape (R, n).
    """
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    is_new = np.ones(rows.shape, dtype=bool)
    is_new[:, 1:] = np.diff(ordered, axis=1) > 1e-9 * np.abs(rows).max(
        axis=1, keepdims=True
    )
    # The sort is stable, so that a new value stands at the place where it occurs first.
    first = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(first, order, is_new, axis=1)
    return np.cumsum(first, axis=1)


def check_paths(
    paths: Paths,
    sums: np.ndarray,
    sizes: np.ndarray | None,
    reach: float | None,
    paired: bool,
) -> None:
    """Raise :class:`AssertionError` where the first run differs from the library at
    some looks.
    """
    looks = sorted({1, FIRST_LOOK, sums.shape[1] // 2, sums.shape[1]})
    units = np.ones(sums.shape[1]) if sizes is None else sizes[0]
    # The other system has the score 1 everywhere, so that its influences are 0.
    a = np.column_stack([sums[0] + paired * units, units])
    b = np.column_stack([units, units]) if paired else None
    mean_sizes = np.cumsum(units) / np.arange(1, len(units) + 1)
    reaches = (
        None if reach is None else reach * np.maximum.accumulate(units) / mean_sizes
    )
    for look in asymptotic_looks(
        lambda totals: totals[..., 0] / totals[..., 1], a, b, looks, reach=reaches
    ):
        radius = paths.radius[0, look.n - 1]
        assert np.isclose((look.high - look.low) / 2, radius, rtol=1e-4) or (
            look.waits and radius == np.inf
        ), (look, radius)


def betting_evidence(deviations: np.ndarray, below: float, above: float) -> np.ndarray:
    """Return the logarithm of the evidence of the betting sequence against a mean after
    each example, shape (R, n).

    Parameters
    ----------
    deviations : ndarray
        Values minus the mean, shape (R, n).
    below, above : float
        Distances of the mean from the bounds of the values.
    """
    sides: list[np.ndarray] = []
    for stakes in (deviations / below, -deviations / above):
        capitals = np.cumsum(np.log1p(np.multiply.outer(FRACTIONS, stakes)), axis=2)
        sides.append(np.logaddexp.reduce(capitals, axis=0) - log(len(FRACTIONS)))
    return np.maximum(*sides) - log(2)


def batch_ends(length: int) -> np.ndarray:
    """Return the numbers of examples after the batches of ``--until``."""
    shards = [(k, k + 1) for k in range(-(-length // BATCH))]
    return np.array([min(length, BATCH * batch[-1][1]) for batch in batches(shards)])


def chunks(name: str, runs: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield generators that depend on the name of a case,
    each with a number of runs.
    """
    for start in range(0, runs, CHUNK):
        yield (
            np.random.default_rng(derive(0, "sequences", name, start)),
            min(CHUNK, runs - start),
        )


def uneven(share: float) -> Population:
    """Return mean-zero differences: a share gains 1, the others lose a little, each
    another amount, and some of them gain a little.
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        losses = (
            share / (1 - share) * (1 + 0.5 * np.clip(rng.standard_normal(shape), -6, 6))
        )
        return np.where(rng.random(shape) < share, 1.0, -losses)

    return Population(
        f"gains in {share:.1%} of examples, uneven losses", 0.0, draw, (-1.0, 1.0)
    )


UNEVEN = tuple(uneven(share) for share in (0.02, 0.01, 0.005, 0.002, 0.001))


def exponential_losses(share: float) -> Population:
    """Return mean-zero differences: a share gains 1, the others lose, most of them
    little, as captions differ that are almost equal.
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(
            rng.random(shape) < share,
            1.0,
            -share / (1 - share) * rng.exponential(size=shape),
        )

    return Population(
        f"gains in {share:.1%} of examples, exponential losses", 0.0, draw
    )


ONE_SIDED = tuple(exponential_losses(share) for share in (0.02, 0.005, 0.001))


def with_range() -> list[tuple[Population, float]]:
    """Return mean-zero populations within a known range, each with the largest
    difference: those of the table, and unseen ones.
    """
    known = [
        (item, item.bounds[1])
        for item in (*MEAN_ZERO, *UNEVEN)
        if item.bounds is not None
    ]
    for item in unseen_populations():
        values = item.draw.args[0] if isinstance(item.draw, partial) else np.zeros(0)
        known.append((item, float(np.abs(values - item.mean).max())))
    return known


def alarms_of(item: Population, runs: int, length: int, reach: float | None) -> Cell:
    """Return how often a sequence ever excludes the mean,
    with a look after every example.
    """
    hits = 0
    for rng, count in chunks(item.name, runs):
        values = item.draw(rng, (count, length)) - item.mean
        paths = find_paths(values, reach=reach)
        check_paths(paths, values, None, reach, True)
        hits += int(paths.excludes(0.0).any(axis=1).sum())
    return Cell(f"{item.name}, n to {length:,}", hits, runs)


def alarms_in_batches(item: Population, runs: int) -> Cell:
    """Return how often a sequence excludes the mean at a look of ``--until``."""
    ends = batch_ends(BATCHED) - 1
    hits = 0
    for rng, count in chunks(f"{item.name} batches", runs):
        paths = find_paths(item.draw(rng, (count, BATCHED)) - item.mean)
        hits += int(paths.excludes(0.0)[:, ends].any(axis=1).sum())
    return Cell(f"{item.name}, batches to {BATCHED:,}", hits, runs)


def measure_without_range(full: bool) -> Sequence[Cell]:
    """Return false alarms of scores without a declared range."""
    runs, length = (RUNS, LENGTH) if full else (QUICK_RUNS, QUICK_LENGTH)
    items = [*MEAN_ZERO, *ONE_SIDED, *unseen_populations()]
    cells = [alarms_of(item, runs, length, None) for item in items]
    return [*cells, *(alarms_in_batches(item, runs) for item in MEAN_ZERO if full)]


def measure_unseen(full: bool) -> Sequence[Cell]:
    """Return false alarms where no condition on the sample sees what is missing, of
    scores without a declared range.
    """
    runs, length = (RUNS, LENGTH) if full else (QUICK_RUNS, QUICK_LENGTH)
    return [alarms_of(item, runs, length, None) for item in UNEVEN]


def measure_with_range(full: bool) -> Sequence[Cell]:
    """Return false alarms of numbers with a known range that are no means of scores."""
    runs, length = (RUNS, LENGTH) if full else (QUICK_RUNS, QUICK_LENGTH)
    return [alarms_of(item, runs, length, reach) for item, reach in with_range()]


def betting_alarms_of(
    item: Population, below: float, above: float, runs: int, length: int
) -> Cell:
    """Return how often a betting sequence ever excludes the mean, which is so far from
    the bounds of the values.
    """
    hits = 0
    for rng, count in chunks(item.name, runs):
        deviations = item.draw(rng, (count, length)) - item.mean
        evidence = betting_evidence(deviations, below, above)
        if below == above:
            (look,) = betting_looks(
                deviations[0], np.ones(length), below, [length], ends=False
            )
            assert np.isclose(
                look.p_value, min(1.0, np.exp(-evidence[0].max())), rtol=1e-6
            ), (item.name, look)
        hits += int((evidence.max(axis=1) >= -log(LEVEL)).sum())
    return Cell(f"{item.name}, n to {length:,}", hits, runs)


def measure_betting(full: bool) -> Sequence[Cell]:
    """Return false alarms of betting sequences, of differences and of the mean of one
    system at whatever width a run stops.
    """
    runs, length = (RUNS, LENGTH) if full else (QUICK_RUNS, QUICK_LENGTH)
    cells = [
        betting_alarms_of(item, reach, reach, runs, length)
        for item, reach in with_range()
    ]
    return [
        *cells,
        *(
            betting_alarms_of(item, item.mean, 1 - item.mean, runs, length)
            for item in SCORES
        ),
    ]


def draw_clusters(
    clusters: Clusters, rng: np.random.Generator, runs: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums and sizes of the clusters of runs, both (R, U)."""
    values, numbers = clusters.draw(rng, runs * count)
    shape = (runs, count)
    return np.bincount(numbers, values).reshape(shape), np.bincount(numbers).reshape(
        shape
    ).astype(float)


def measure_clusters(full: bool) -> Sequence[Cell]:
    """Return false alarms of asymptotic sequences whose units are clusters: of normal
    differences, and of clusters that gain as a whole.
    """
    runs, length = (RUNS, LENGTH) if full else (QUICK_RUNS, QUICK_LENGTH)
    cells: list[Cell] = []
    for item in CLUSTERS:
        hits = {"normal, without a range": 0, f"{UNEVEN[2].name}, with a range": 0}
        for rng, count in chunks(item.name, runs):
            sums, sizes = draw_clusters(item, rng, count, length)
            gains = UNEVEN[2].draw(rng, sizes.shape) * sizes
            for case, of_clusters, reach in zip(hits, (sums, gains), (None, 1.0)):
                paths = find_paths(of_clusters, sizes, reach)
                check_paths(paths, of_clusters, sizes, reach, True)
                hits[case] += int(paths.excludes(0.0).any(axis=1).sum())
        cells += [
            Cell(f"{item.name}, {case}, to {length:,} clusters", found, runs)
            for case, found in hits.items()
        ]
    return cells


def matches(share: float, rest: float) -> Population:
    """Return scores in [0, 1]: 1 for a share of the examples,
    the others uniform from 0 to ``rest``.
    """

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(rng.random(shape) < share, 1.0, rest * rng.random(shape))

    return Population(
        f"{share:.1%} of scores 1, others to {rest:g}",
        share + (1 - share) * rest / 2,
        draw,
        (0.0, 1.0),
    )


def _beta(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.beta(0.5, 4.5, shape)


SCORES: Sequence[Population] = (
    Population("beta(.5, 4.5)", 0.1, _beta, (0.0, 1.0)),
    *(matches(share, rest) for share in (0.005, 0.02) for rest in (0.0, 0.02, 0.2)),
)
"""Scores of one system whose mean is to be known within a width."""


def truth_at_stop(
    item: Population, runs: int, length: int, reach: float | None
) -> Sequence[Cell]:
    """Return how often ``METRIC ± WIDTH`` is confirmed without the truth by an
    asymptotic sequence, for each width.
    """
    ends = batch_ends(length) - 1
    deviation = float(np.std(item.draw(np.random.default_rng(0), (100_000,))))
    wrong = dict.fromkeys(WIDTHS, 0)
    for rng, count in chunks(f"{item.name} width", runs):
        values = item.draw(rng, (count, length))
        paths = find_paths(values, reach=reach, paired=False)
        check_paths(paths, values, None, reach, False)
        excludes = paths.excludes(item.mean)[:, ends]
        radius = paths.radius[:, ends]
        for share in WIDTHS:
            narrow = radius <= share * deviation
            first = narrow.argmax(axis=1)[:, None]
            wrong[share] += int(
                (
                    np.take_along_axis(excludes, first, axis=1)[:, 0]
                    & narrow.any(axis=1)
                ).sum()
            )
    kind = "without a range" if reach is None else "with a range"
    return [
        Cell(f"{item.name}, {kind}, ± {share:g} deviations", wrong[share], runs)
        for share in WIDTHS
    ]


def measure_width(full: bool) -> Sequence[Cell]:
    """Return how often ``METRIC ± WIDTH`` is confirmed without the truth in the
    interval, of numbers that are no means within bounds.
    """
    runs = RUNS if full else QUICK_RUNS
    ranged = [
        cell for item in SCORES for cell in truth_at_stop(item, runs, BATCHED, 1.0)
    ]
    others = [*MEAN_ZERO, *unseen_populations()]
    return [
        *ranged,
        *(cell for item in others for cell in truth_at_stop(item, runs, LENGTH, None)),
    ]


PROMISES = (
    Promise(
        "sequence-without-range",
        "an asymptotic sequence of a score without a declared range is wrong at any "
        "look in at most 6 % of runs of these populations",
        [PAGE],
        GOAL,
        measure_without_range,
        exact=True,
    ),
    Promise(
        "sequence-with-range",
        "an asymptotic sequence of a number within a known range (BLEU, METEOR) "
        "is wrong at any look in at most 6 % of runs",
        [PAGE],
        GOAL,
        measure_with_range,
        exact=True,
    ),
    Promise(
        "sequence-clusters",
        "an asymptotic sequence whose units are clusters is wrong at any look in at "
        "most 6 % of runs",
        [PAGE],
        GOAL,
        measure_clusters,
        exact=True,
    ),
    Promise(
        "sequence-betting",
        "a betting sequence is wrong at any look in at most 5 % of runs, "
        "whatever the scores are",
        [PAGE],
        LEVEL,
        measure_betting,
        exact=True,
    ),
    Promise(
        "sequence-width",
        "`METRIC ± WIDTH` is confirmed without the truth in the interval in at most "
        "6 % of runs",
        [PAGE],
        GOAL,
        measure_width,
        exact=True,
    ),
    Promise(
        "sequence-unseen",
        "without a declared range, large gains that have not occurred yet, "
        "among uneven losses, raise alarms in up to 70 % of runs",
        [PAGE],
        0.7,
        measure_unseen,
    ),
)
