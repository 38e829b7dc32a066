"""Intervals of mean human scores from few labels (``harness estimate``): coverage where
one is printed, by kind of labels and of draw.

A repetition draws 400 examples, or 200 clusters, with labels and metrics, and labels n
of them. The rate of a case is the coverage among the repetitions with an interval;
where fewer than a twentieth have one, those without count as covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import exp
from typing import Any

import numpy as np

from benchmarks.promises.populations import (
    BOUNDED,
    CLUSTERS,
    HEAVY,
    JUDGE,
    Clusters,
    Population,
    few_changed,
)
from benchmarks.promises.promise import Cell, Promise
from harness.decisions.statistics.bounded_labels import bounded_labels_interval
from harness.decisions.statistics.prediction_powered import powered_mean
from harness.stats.quantiles import normal_quantile

EXAMPLES = 400
GROUPS = 200
"""Number of clusters of a draw."""
SELDOM = 0.05
"""Share of the repetitions with an interval below which those without count as covered.
"""
GOAL = 0.93
QUICK = 500
FULL = 10_000


@dataclass(frozen=True)
class Scored:
    """Labels beside the scores of metrics."""

    name: str
    mean: float
    """Mean label."""
    draw: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
    """Generator and number of examples N -> labels (N,) and predictions (N, p)."""


@dataclass(frozen=True)
class Sample:
    """Examples of one repetition, and how some of them were labelled."""

    labels: np.ndarray
    """All labels, shape (N,)."""
    predictions: np.ndarray
    labelled: np.ndarray
    truth: float
    design: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of :func:`powered_mean`."""


@dataclass(frozen=True)
class Shape:
    """Labels as a function of a normal quality, which metrics see with noise."""

    name: str
    of_quality: Callable[[np.ndarray], np.ndarray]
    mean: float

    def seen_with(self, noise: float, metrics: int = 1) -> Scored:
        """Return the labels beside metrics that are the quality with noise, all but the
        first with noise of the deviation 1.
        """

        def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
            quality = rng.standard_normal(size)
            noises = np.array([noise, *np.ones(metrics - 1)]) * rng.standard_normal(
                (size, metrics)
            )
            return self.of_quality(quality), quality[:, None] + noises

        text = f"metric of noise {noise:g}" if metrics == 1 else f"{metrics} metrics"
        return Scored(f"{self.name}, {text}", self.mean, draw)


def _exponential(quality: np.ndarray) -> np.ndarray:
    from scipy.special import log_ndtr

    return -np.asarray(log_ndtr(-quality))


def _graded(quality: np.ndarray) -> np.ndarray:
    return 1.0 + np.searchsorted(
        [normal_quantile(share) for share in (0.02, 0.05, 0.15, 0.4)], quality
    )


def binary(share: float) -> Shape:
    """Return labels of which a share are 1, the others 0."""
    bound = normal_quantile(1 - share)
    return Shape(
        f"binary {share:.0%}", lambda quality: (quality > bound).astype(float), share
    )


NORMAL = Shape("normal", lambda quality: quality, 0.0)
LOGNORMAL = Shape("lognormal(1)", np.exp, exp(0.5))
LOGNORMAL_DOWN = Shape(
    "lognormal(1) skewed down", lambda quality: -np.exp(quality), -exp(0.5)
)
EXPONENTIAL = Shape("exponential", _exponential, 1.0)
GRADES = Shape(
    "grades 1 to 5, 60% are 5", _graded, 0.02 + 0.03 * 2 + 0.1 * 3 + 0.25 * 4 + 0.6 * 5
)
BINARY = binary(0.1)


def with_noise(population: Population, noise: float = 1.0) -> Scored:
    """Return values of a population beside a metric that is the values with noise, as
    differences of two systems.
    """

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        values = population.draw(rng, (size,))
        return values, values[:, None] + noise * rng.standard_normal((size, 1))

    return Scored(f"difference: {population.name}", population.mean, draw)


def judge(share: float, wrong: float) -> Scored:
    """Return right and wrong answers, a share of them right,
    beside a judge that errs in some.
    """

    def draw(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        right = rng.random(size) < share
        errs = rng.random(size) < wrong
        return right.astype(float), (right ^ errs).astype(float)[:, None]

    return Scored(f"{share:.0%} right, a judge that errs in {wrong:.0%}", share, draw)


def draw_random(
    rng: np.random.Generator, scored: Scored, n: int, finite: bool = False
) -> Sample:
    """Return a simple random sample of n labels."""
    labels, predictions = scored.draw(rng, EXAMPLES)
    truth = float(labels.mean()) if finite else scored.mean
    return Sample(
        labels,
        predictions,
        np.arange(EXAMPLES) < n,
        truth,
        {"finite": True} if finite else {},
    )


def draw_by_score(rng: np.random.Generator, scored: Scored, n: int) -> Sample:
    """Return labels drawn one by one with probabilities that vary as exp(-score),
    about n of them.
    """
    labels, predictions = scored.draw(rng, EXAMPLES)
    score = (predictions[:, 0] - predictions[:, 0].mean()) / predictions[:, 0].std()
    probabilities = np.exp(-score)
    # probabilities end at 1, so that the factor is found by repetition
    for _ in range(50):
        probabilities = np.minimum(probabilities * n / probabilities.sum(), 1.0)
    return Sample(
        labels,
        predictions,
        rng.random(EXAMPLES) < probabilities,
        scored.mean,
        {"probabilities": probabilities},
    )


def draw_plan(
    rng: np.random.Generator, scored: Scored, n: int, strata: int = 5
) -> Sample:
    """Return labels of strata of the first metric's scores, each with its share, as
    ``harness label-plan --by`` draws them.
    """
    labels, predictions = scored.draw(rng, EXAMPLES)
    bounds = np.quantile(predictions[:, 0], np.arange(strata) / strata, method="higher")
    stratum = np.searchsorted(bounds, predictions[:, 0], side="right") - 1
    sizes = np.bincount(stratum)
    counts = np.diff(np.rint(np.cumsum(sizes) * n / EXAMPLES).astype(int), prepend=0)
    drawn = np.concatenate(
        [
            rng.permutation(np.flatnonzero(stratum == k))[:count]
            for k, count in enumerate(counts)
        ]
    )
    labelled = np.isin(np.arange(EXAMPLES), drawn)
    return Sample(
        labels,
        predictions,
        labelled,
        scored.mean,
        {"strata": stratum, "probabilities": (counts / sizes)[stratum]},
    )


def draw_clusters(
    clusters: Clusters, rng: np.random.Generator, shape: Shape, n: int
) -> Sample:
    """Return the labels of n whole clusters,
    and a metric whose noise is clustered too.
    """
    deviation = float(np.hypot(clusters.common, 1.0))
    quality, numbers = clusters.draw(rng, GROUPS)
    noise = clusters.common * rng.standard_normal(GROUPS)[
        numbers
    ] + rng.standard_normal(len(numbers))
    predictions = ((quality + noise) / deviation)[:, None]
    labels = shape.of_quality(quality / deviation)
    return Sample(labels, predictions, numbers < n, shape.mean, {"clusters": numbers})


def find_interval(sample: Sample, *, alone: bool = False) -> tuple[float, float] | None:
    """Return the interval of a sample, or of its labels alone."""
    labels = np.where(sample.labelled, sample.labels, np.nan)
    tuning = np.zeros(sample.predictions.shape[1]) if alone else None
    if sample.labelled.sum() < 3:
        return None
    return powered_mean(labels, sample.predictions, tuning=tuning, **sample.design).ci95


def find_bounded_interval(
    bounds: tuple[float, float], sample: Sample
) -> tuple[float, float] | None:
    """Return the interval of the labels alone within bounds."""
    return bounded_labels_interval(
        np.where(sample.labelled, sample.labels, np.nan), *bounds, **sample.design
    )[0]


def measure_case(
    case: str,
    draw: Callable[[np.random.Generator], Sample],
    find: Callable[[Sample], tuple[float, float] | None],
    runs: int,
) -> Cell:
    """Return the coverage of one case."""
    rng = np.random.default_rng([53, *case.encode()])
    printed = inside = 0
    for _ in range(runs):
        sample = draw(rng)
        interval = find(sample)
        printed += interval is not None
        inside += interval is not None and interval[0] <= sample.truth <= interval[1]
    if printed < SELDOM * runs:
        return Cell(
            f"{case} (printed in {printed / runs:.0%})", inside + runs - printed, runs
        )
    return Cell(
        case if printed == runs else f"{case} (printed in {printed / runs:.0%})",
        inside,
        printed,
    )


Case = tuple[
    str,
    Callable[[np.random.Generator], Sample],
    Callable[[Sample], tuple[float, float] | None],
]


def of_draw(
    draw: Callable[..., Sample],
    scored: Sequence[Scored | Shape],
    sizes: Sequence[int],
    **options: Any,
) -> Iterator[Case]:
    """Yield a case for each kind of labels and number of them."""
    alone = options.pop("alone", False)
    for one in scored:
        for n in sizes:
            name = one.name + (", labels alone" if alone else "")
            yield (
                f"{name}, n = {n}",
                lambda rng, one=one, n=n: draw(rng, one, n, **options),
                partial(find_interval, alone=alone),
            )


def within(
    bounds: tuple[float, float],
    draw: Callable[..., Sample],
    scored: Scored,
    sizes: Sequence[int],
    **options: Any,
) -> Iterator[Case]:
    """Yield the cases of labels alone within bounds."""
    for n in sizes:
        yield (
            f"{scored.name}, n = {n}",
            lambda rng, n=n: draw(rng, scored, n, **options),
            partial(find_bounded_interval, bounds),
        )


def promise(
    name: str, sentence: str, cases: Callable[[], Iterator[Case]], goal: float = GOAL
) -> Promise:
    """Return the promise of a coverage."""

    def measure(full: bool) -> list[Cell]:
        return [measure_case(*case, FULL if full else QUICK) for case in cases()]

    return Promise(
        f"estimate-{name}", sentence, ["docs/estimate.md"], goal, measure, at_least=True
    )


def _normal() -> Iterator[Case]:
    yield from of_draw(draw_random, [NORMAL.seen_with(1.0)], (5, 8, 20, 50))
    yield from of_draw(draw_random, [NORMAL.seen_with(1.0)], (5, 8, 20, 50), alone=True)


def _skewed() -> Iterator[Case]:
    shapes = [
        LOGNORMAL.seen_with(0.5),
        LOGNORMAL_DOWN.seen_with(2.0),
        EXPONENTIAL.seen_with(1.0),
        GRADES.seen_with(1.0),
    ]
    yield from of_draw(draw_random, shapes, (10, 20, 50, 100))
    yield from of_draw(
        draw_random,
        [LOGNORMAL.seen_with(1.0), GRADES.seen_with(1.0)],
        (10, 20, 50, 100),
        alone=True,
    )


def _four_metrics() -> Iterator[Case]:
    yield from of_draw(
        draw_random,
        [shape.seen_with(1.0, 4) for shape in (NORMAL, LOGNORMAL)],
        (10, 20, 25, 50),
    )


def _binary() -> Iterator[Case]:
    yield from of_draw(
        draw_random, [BINARY.seen_with(1.0), binary(0.3).seen_with(1.0)], (20, 50)
    )
    yield from of_draw(draw_random, [BINARY.seen_with(1.0)], (20, 50), alone=True)


def _judge() -> Iterator[Case]:
    yield from of_draw(
        draw_random, [judge(0.5, 0.05), judge(0.8, 0.1)], (20, 35, 50, 100)
    )


def _unequal() -> Iterator[Case]:
    yield from of_draw(
        draw_by_score, [NORMAL.seen_with(1.0), NORMAL.seen_with(0.3)], (20, 50, 200)
    )
    yield from of_draw(draw_by_score, [NORMAL.seen_with(1.0)], (20, 50), alone=True)


def _plan() -> Iterator[Case]:
    yield from of_draw(
        draw_plan,
        [shape.seen_with(1.0) for shape in (NORMAL, GRADES, EXPONENTIAL)],
        (20, 35, 50),
    )
    yield from of_draw(draw_plan, [LOGNORMAL.seen_with(0.5)], (20, 35, 50))


def _clusters() -> Iterator[Case]:
    for clusters in CLUSTERS:
        for shape in (NORMAL, LOGNORMAL):
            for n in (20, 50, 100):
                case = f"{shape.name}, {clusters.name}, n = {n} clusters"
                yield (
                    case,
                    lambda rng, c=clusters, s=shape, n=n: draw_clusters(c, rng, s, n),
                    find_interval,
                )


def _finite() -> Iterator[Case]:
    shapes = [
        NORMAL.seen_with(1.0),
        LOGNORMAL.seen_with(0.5),
        GRADES.seen_with(1.0),
        judge(0.8, 0.1),
    ]
    yield from of_draw(draw_random, shapes, (20, 50, 200), finite=True)


def _differences() -> Iterator[Case]:
    populations = [HEAVY, BOUNDED, few_changed(0.2), few_changed(0.05)]
    yield from of_draw(
        draw_random,
        [with_noise(population) for population in populations],
        (20, 50, 100),
    )


def _bounded() -> Iterator[Case]:
    for shape, bounds in ((GRADES, (1.0, 5.0)), (BINARY, (0.0, 1.0))):
        yield from within(bounds, draw_random, shape.seen_with(1.0), (3, 10, 50))
        yield from within(
            bounds,
            partial(draw_random, finite=True),
            replace_name(shape.seen_with(1.0), "finite"),
            (3, 10, 50),
        )
        yield from within(
            bounds,
            draw_plan,
            replace_name(shape.seen_with(1.0), "five strata"),
            (10, 50),
        )
    yield from within((-10.0, 10.0), draw_random, with_noise(JUDGE), (3, 10, 50))


def replace_name(scored: Scored, text: str) -> Scored:
    """Return labels whose name has a further text."""
    return Scored(f"{scored.name}, {text}", scored.mean, scored.draw)


PROMISES = (
    promise(
        "normal",
        "Normal labels: the 95 % interval of `harness estimate` covers the mean score",
        _normal,
    ),
    promise(
        "skewed",
        "Skewed labels: the 95 % interval of `harness estimate` covers the mean score",
        _skewed,
    ),
    promise(
        "four-metrics",
        "Four metrics at once: the 95 % interval of `harness estimate` covers the "
        "mean score",
        _four_metrics,
    ),
    promise(
        "binary",
        "Right and wrong answers: the 95 % interval of `harness estimate` covers the "
        "mean score",
        _binary,
    ),
    promise(
        "judge",
        "Right and wrong answers, a judge that seldom errs: "
        "the interval of `harness estimate` covers their share",
        _judge,
    ),
    promise(
        "unequal",
        "Own probabilities as exp(-score): the 95 % interval of `harness estimate` "
        "covers the mean score",
        _unequal,
    ),
    promise(
        "plan",
        "Five strata of `harness label-plan --by`: "
        "the 95 % interval covers the mean score",
        _plan,
    ),
    promise(
        "clusters",
        "Clusters: the 95 % interval of `harness estimate` covers the mean score",
        _clusters,
    ),
    promise(
        "population",
        "`harness estimate --population`: the 95 % interval covers the mean score of "
        "the examples",
        _finite,
    ),
    promise(
        "differences",
        "Differences of two systems: the 95 % interval of `harness estimate` covers "
        "the mean",
        _differences,
    ),
    promise(
        "bounds",
        "`harness estimate --bounds`: the interval of the labels alone covers the "
        "mean at every n",
        _bounded,
        0.95,
    ),
)
