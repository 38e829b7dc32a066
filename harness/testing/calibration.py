"""Calibration of a metric: coverage of the interval that a run prints, and size of the
paired test, by simulation on captions of the kit.

Examples are drawn from a population whose captions keep a share of the words of a
scene's captions. The share has one of three distributions, and so have the scores:
symmetric, skewed, and with many zeros. A population has two systems with captions of
the same distribution: the hypothesis of the paired test holds. The examples are scored
once and their statistics drawn, with corpus state (document frequencies, vocabularies)
fitted on the references of the population and held fixed, as a run does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from harness.analysis.paired_family import PairedMetric, SystemData, paired_tests
from harness.contracts import (
    CaptionSet,
    MeanMetric,
    Metric,
    MetricSpec,
    Objects,
    Statistics,
    Values,
    is_defined,
    join_statistics,
)
from harness.errors import HarnessError
from harness.run import score as scoring
from harness.run.coverage_tables import table_name
from harness.run.features import FeatureCache
from harness.run.intervals import nominal_estimate
from harness.stats.draws import DrawFamily
from harness.testing.sample_captions import NONSENSE, SCENES

SIZES = (2, 3, 5, 7, 10, 20, 50, 300)
"""Numbers of examples."""
DISTRIBUTIONS = ("symmetric", "skewed", "zeros")
"""Distributions of the share of words that a caption keeps (:func:`kept_share`)."""
REPETITIONS = 1000
"""Simulated runs per distribution and number of examples for the interval; half as many
for the test, and half from :data:`MANY` on.
"""
CORPUS_REPETITIONS = 200
"""The same for a metric whose objects are reduced again for every draw, at any number
of examples, and a quarter as many for the test.
"""
MANY = 100
"""Number of examples from which coverage changes little."""
EXAMPLES = 400
"""Examples of a population; five times as many for a metric of objects,
which repeated examples bias.
"""
SAMPLES = 1000
"""Bootstrap samples of an interval and random assignments of a test, as in a run; a
tenth of the assignments for a metric of objects.
"""
PER_SEED = 100
"""Repetitions that share bootstrap weights and assignments."""
FEWEST = 50
"""Number of intervals, or of p-values, from which a share is reported."""
LEVEL = 0.05
"""Level of the paired test."""

Population = tuple[Sequence[CaptionSet], Sequence[CaptionSet]]
"""Caption sets of two systems on the same examples."""


@dataclass(frozen=True)
class CalibrationCell:
    """Shares at one number of examples, by distribution; None where fewer than
    :data:`FEWEST` runs have an interval or p-value.
    """

    coverage: list[float | None] = field(default_factory=list["float | None"])
    """Share of the printed intervals that contain the true number."""
    size: list[float | None] = field(default_factory=list["float | None"])
    """Share of the paired tests of equal systems with p at most 0.05."""


@dataclass(frozen=True)
class Calibration:
    """Measured coverage and size of a metric."""

    name: str
    """Name of the metric in tables (:func:`harness.run.coverage_tables.table_name`)."""
    repetitions: int
    """Simulated intervals per distribution and number of examples, at least."""
    tests: int
    """Simulated tests, at least."""
    sizes: dict[int, CalibrationCell]

    def to_dict(self) -> Values:
        """Return the table of the metric as in a file ``calibration.json``."""
        cells = {
            str(n): {"interval": cell.coverage, "test": cell.size}
            for n, cell in self.sizes.items()
        }
        return {"repetitions": self.repetitions, "tests": self.tests, "sizes": cells}


def calibrate(
    metric: Metric,
    populations: Sequence[Population] | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    repetitions: int | None = None,
    seconds: float = float("inf"),
    seed: int = 0,
) -> Calibration:
    """Return the coverage of the nominal 95 % intervals of a metric and the size of its
    paired tests.

    The truth of a mean, or of another function of sums, is the number of the
    population; that of a number of a corpus, which may depend on the number of
    examples, is the mean over the simulated runs of the same number.

    Parameters
    ----------
    metric : Metric
        A metric of caption sets.
    populations : sequence of Population, optional
        One for each of :data:`DISTRIBUTIONS`, for a metric that needs images or
        metadata; default: captions of the kit.
    sizes : sequence of int
        Numbers of examples.
    repetitions : int, optional
        Simulated runs per distribution and number of examples; default:
        :data:`REPETITIONS`, or :data:`CORPUS_REPETITIONS` for objects.
    seconds : float
        Processor time; no number of examples is begun that would need more, if time is
        proportional to that number.
    seed : int
        Seed of the population and of the draws.

    Raises
    ------
    HarnessError
        The metric judges token scores, needs images or metadata, or is defined for too
        few examples.
    """
    _verify_metric(metric.spec, with_populations=populations is not None)

    # a small population tells whether the metric has objects, which take more time
    small = (
        caption_population(metric.spec, 0, 50, seed)
        if populations is None
        else populations[0]
    )
    of_objects = isinstance(metric_statistics(metric, small)[0], Objects)
    repetitions = repetitions or (CORPUS_REPETITIONS if of_objects else REPETITIONS)
    tests = repetitions // (4 if of_objects else 2)
    half = 1 if of_objects else 2
    count = EXAMPLES * (5 if of_objects else 1)

    if populations is None:
        populations = [
            caption_population(metric.spec, kind, count, seed)
            for kind in range(len(DISTRIBUTIONS))
        ]
    scored = [metric_statistics(metric, population) for population in populations]

    cells: dict[int, CalibrationCell] = {}
    spent = 0.0
    expected = 0.0
    for index, n in enumerate(sizes):
        if spent + expected > seconds:
            break

        started = time.process_time()
        part = half if n >= MANY else 1
        cells[n] = _calibrate_size(
            metric, scored, n, repetitions // part, tests // part, seed
        )

        spent += time.process_time() - started
        following = sizes[min(index + 1, len(sizes) - 1)]
        expected = (time.process_time() - started) * following / n

    part = half if max(cells, default=0) >= MANY else 1
    return Calibration(table_name(metric), repetitions // part, tests // part, cells)


def _verify_metric(spec: MetricSpec, *, with_populations: bool) -> None:
    """Raise :class:`HarnessError` for a metric of token scores, and for one of images
    whose populations are not given.
    """
    if spec.level == "model":
        raise HarnessError(
            f"metric '{spec.name}' judges token scores, not captions: "
            "it is not calibrated"
        )
    lacking = sorted({"images", "events"} & spec.needs)
    if not with_populations and lacking:
        raise HarnessError(
            f"metric '{spec.name}' needs {lacking[0]}: "
            "it is calibrated on populations that have them"
        )


def caption_population(
    spec: MetricSpec, kind: int, count: int, seed: int
) -> Population:
    """Return the captions of two systems of one distribution on ``count`` examples.

    Parameters
    ----------
    spec : MetricSpec
        Specification of the metric, which says how many texts an example has at least.
        Metrics of level ``item`` get one candidate where they can, the others five; all
        get five references.
    kind : int
        Position in :data:`DISTRIBUTIONS`.
    count : int
        Number of examples.
    seed : int
        Seed of the generator.
    """
    n = max(1 if spec.level == "item" else 5, spec.min_candidates)
    m = max(5, spec.min_references, spec.min_texts - n)
    return _captions(n, m, kind, count, seed)


def kept_share(kind: int, rng: np.random.Generator) -> float:
    """Return a random share: 1/2 + Beta(4, 4) / 2, or 1 - Beta(1, 4), most of which is
    near 1, or the first with three zeros in ten.
    """
    if kind == 1:
        return 1 - float(rng.beta(1, 4))
    if kind == 2 and rng.random() < 0.3:
        return 0.0
    return 0.5 + float(rng.beta(4, 4)) / 2


@lru_cache(maxsize=6)
def _captions(n: int, m: int, kind: int, count: int, seed: int) -> Population:
    """Return :func:`caption_population` of n candidates and m references."""
    rng = np.random.default_rng([seed, kind])
    vocabulary = [word for scene in SCENES for text in scene for word in text.split()]

    def vary(text: str, share: float) -> str:
        """Return the text with a share of its words;
        half of the others are left out, half exchanged.
        """
        if share == 0:
            return str(rng.choice(NONSENSE))
        draws = rng.random(len(text.split()))
        words = [
            word if draw < share else str(rng.choice(vocabulary))
            for word, draw in zip(text.split(), draws)
            if draw < (1 + share) / 2
        ]
        return " ".join(words) or str(rng.choice(vocabulary))

    systems: tuple[list[CaptionSet], list[CaptionSet]] = ([], [])
    for index in range(count):
        scene = SCENES[rng.integers(len(SCENES))]
        texts = rng.choice(scene, m, replace=m > len(scene))
        references = tuple(vary(str(text), 0.9) for text in texts)

        # both systems keep the same share: the hypothesis of the paired test holds
        share = kept_share(kind, rng)
        for system in systems:
            candidates = tuple(vary(str(rng.choice(scene)), share) for _ in range(n))
            system.append(
                CaptionSet(f"example-{index}", candidates, references, None, scene[-1])
            )
    return systems


def metric_statistics(
    metric: Metric, population: Population
) -> tuple[Statistics, Statistics]:
    """Return the statistics of both systems on the examples that are defined for
    both.
    """
    features = FeatureCache([item.references for item in population[0]])
    statistics = []
    for sets in population:
        batches = scoring.batches(sets, features, None)
        statistics.append(scoring.score(metric, batches, features, None, 0).stats)

    a, b = statistics
    defined = is_defined(a) & is_defined(b)
    if np.count_nonzero(defined) < 2:
        raise HarnessError(
            f"metric '{metric.spec.name}' is defined for none of the captions of the "
            "kit"
        )
    return a[defined], b[defined]


def _calibrate_size(
    metric: Metric,
    scored: Sequence[tuple[Statistics, Statistics]],
    n: int,
    repetitions: int,
    tests: int,
    seed: int,
) -> CalibrationCell:
    """Return the shares at n examples, from the statistics of both systems of each
    distribution.
    """
    cell = CalibrationCell()
    for kind, systems in enumerate(scored):
        # one generator per cell: a cell is the same whichever others are computed
        rng = np.random.default_rng([seed, kind, n])
        both = join_statistics(list(systems))
        cell.coverage.append(_coverage(metric, both, n, repetitions, rng))
        cell.size.append(_size(metric, systems, n, tests, rng))
    return cell


def _coverage(
    metric: Metric,
    stats: Statistics,
    n: int,
    repetitions: int,
    rng: np.random.Generator,
) -> float | None:
    """Return the share of the printed intervals of n examples that contain the
    truth.
    """
    values: list[float] = []
    intervals: list[tuple[float, float]] = []
    for repetition in range(repetitions):
        rows = _draw(stats, len(stats), n, rng)
        value, interval = nominal_estimate(
            metric, stats[rows], SAMPLES, repetition // PER_SEED
        )
        values.append(value)
        if interval.ends is not None:
            intervals.append(interval.ends)
        # a metric without intervals at this size is left before all are tried
        if repetition == FEWEST // 2 and not intervals:
            break
    if len(intervals) < FEWEST:
        return None

    truth = (
        float(metric.reduce(stats))
        if isinstance(metric, MeanMetric)
        else float(np.nanmean(values))
    )
    low, high = np.array(intervals).T
    rounding = 1e-12 * max(1.0, abs(truth))
    contains = (low <= truth + rounding) & (truth - rounding <= high)
    return round(float(np.mean(contains)), 3)


def _size(
    metric: Metric,
    systems: tuple[Statistics, Statistics],
    n: int,
    repetitions: int,
    rng: np.random.Generator,
) -> float | None:
    """Return the share of the paired tests of n examples that reject; the systems of
    each drawn example are in random order.
    """
    both = join_statistics(list(systems))
    count = len(systems[0])
    of_objects = isinstance(both, Objects)
    assignments = SAMPLES // 10 if of_objects else SAMPLES
    together = 10 if of_objects else PER_SEED

    p_values: list[float] = []
    for block in range(math.ceil(repetitions / together)):
        items: list[PairedMetric] = []
        for _ in range(min(together, repetitions - block * together)):
            rows = _draw(both, count, n, rng)
            exchanged = rng.integers(2, size=n)
            a, b = (
                _system_data(metric, both[rows + count * side])
                for side in (exchanged, 1 - exchanged)
            )
            items.append(PairedMetric(metric, a, b))

        for test in paired_tests(items, DrawFamily(n, assignments, block)):
            result = test.reported or test.signs
            if result is not None and not np.isnan(result.p_value):
                p_values.append(result.p_value)
        # a metric without p-values at this size is left after the first block
        if not p_values:
            return None
    if len(p_values) < FEWEST:
        return None
    return round(float(np.mean(np.array(p_values) <= LEVEL)), 3)


def _system_data(metric: Metric, stats: Statistics) -> SystemData:
    """Return the statistics of a system, or the scores alone for their mean: the sign
    flips of their differences are its test.
    """
    if isinstance(metric, MeanMetric) and type(metric).reduce is MeanMetric.reduce:
        return SystemData(None, metric.per_example(np.asarray(stats)))
    return SystemData(stats, np.full(len(stats), np.nan))


def _draw(
    stats: Statistics, count: int, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return n of ``count`` rows: objects without repetition,
    which biases numbers of distinct things.
    """
    return rng.choice(count, n, replace=not isinstance(stats, Objects) or n > count)
