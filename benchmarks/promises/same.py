"""Promises of ``harness same``: coverage of its intervals, error of "equivalent
within margin", false alarms over nights, found changes.

The sources are random: each prompt has texts of its own with probabilities of their
own, from which answers are drawn independently. *Few texts* are eight per prompt, of
which one or two are frequent: squared distances are skewed. *Many texts* have six
words, each one of four with probabilities of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from benchmarks.promises.promise import Cell, Promise
from harness.decisions.same.effects import Effect, held_out_accuracy
from harness.decisions.same.level import NightSeries
from harness.decisions.same.same import resolve
from harness.decisions.same.sources import Prompt
from harness.decisions.same.statistics import Settings, evaluate
from harness.stats.stratified_test import adaptive_p

WORDS = [f"word{k}" for k in range(60)]
REFUSAL = "I am sorry, I cannot help with that."
DRAWS = 199
"""Relabelings of a simulated check of one night."""
QUICK_RUNS = 50
MARGIN_LEVEL = 0.05
"""Level of the test beside which equivalence is stated."""
SERIES = 20
"""Number of nights of a simulated series."""
NIGHTS = (1, 6, 7, 60)
"""Nights on which a total change is looked for."""
PLACES = ("docs/same.md",)


@dataclass(frozen=True)
class Design:
    """A size of a check."""

    prompts: int
    answers: int
    runs: int
    """Number of runs of the full measurement."""

    def __str__(self) -> str:
        return f"{self.prompts} prompts x {self.answers} answers"


DESIGNS: Sequence[Design] = (
    Design(5, 10, 2000),
    Design(25, 10, 2000),
    Design(100, 5, 1000),
)

Answers = tuple[list[list[str]], list[list[str]]]
"""Answers of two sources to each prompt."""


def draw_few_texts(rng: np.random.Generator, design: Design) -> Answers:
    """Return answers of two equal sources out of eight texts per prompt."""
    texts = [
        [" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(8)]
        for _ in range(design.prompts)
    ]
    first: list[list[str]] = []
    second: list[list[str]] = []
    for own in texts:
        shares = rng.dirichlet(np.full(8, 0.3))
        first.append([own[j] for j in rng.choice(8, design.answers, p=shares)])
        second.append([own[j] for j in rng.choice(8, design.answers, p=shares)])
    return first, second


def draw_many_texts(
    rng: np.random.Generator, design: Design, temperature: float = 1.0
) -> Answers:
    """Return answers of six words each; those of the second source are drawn at a
    temperature.
    """
    first: list[list[str]] = []
    second: list[list[str]] = []
    for _ in range(design.prompts):
        words = rng.choice(WORDS, (6, 4))
        shares = rng.dirichlet(np.full(4, 0.7), 6)
        cooled = shares ** (1 / temperature)
        for answers, probabilities in (
            (first, shares),
            (second, cooled / cooled.sum(axis=1, keepdims=True)),
        ):
            places = (
                (rng.random((design.answers, 6, 1)) > probabilities.cumsum(axis=1))
                .sum(axis=2)
                .clip(0, 3)
            )
            answers.append([" ".join(words[range(6), row]) for row in places])
    return first, second


def draw_refusals(rng: np.random.Generator, design: Design, share: float) -> Answers:
    """Return answers out of few texts; a share of those of the second source is a
    refusal.
    """
    first, second = draw_few_texts(rng, design)
    return first, [
        [REFUSAL if rng.random() < share else text for text in texts]
        for texts in second
    ]


DISTANCES: dict[str, Callable[[np.random.Generator, Design], Answers]] = {
    "equal sources": draw_few_texts,
    "one answer in ten is a refusal": partial(draw_refusals, share=0.1),
    "temperature .6": partial(draw_many_texts, temperature=0.6),
}
"""Name -> sources; of the first ones both distances are known: 0,
and an accuracy of .5.
"""


def check(answers: Answers) -> list[Prompt]:
    """Return the prompts of a check."""
    return [Prompt(str(k), a, b) for k, (a, b) in enumerate(zip(*answers))]


@dataclass(frozen=True)
class Checked:
    """Numbers of a simulated check."""

    p: float
    distance: Effect
    accuracy: Effect


@cache
def simulate(design: Design, name: str, runs: int) -> Sequence[Checked]:
    """Return the numbers of simulated checks."""
    found: list[Checked] = []
    for run in range(runs):
        prompts = check(
            DISTANCES[name](np.random.default_rng([run, design.prompts, 53]), design)
        )
        outcome = evaluate(prompts, Settings(("n-grams",), DRAWS, run))
        accuracy = held_out_accuracy(outcome.strata, outcome.features, DRAWS, run)
        found.append(Checked(outcome.p, outcome.effect("n-grams"), accuracy))
    return found


def true_values(checks: Sequence[Checked], name: str) -> tuple[float, float]:
    """Return the distance and the accuracy that the intervals are for: both numbers are
    unbiased, so that their means over runs are.
    """
    if name == "equal sources":
        return 0.0, 0.5
    distances = [c.distance.value for c in checks if c.distance.value is not None]
    accuracies = [c.accuracy.value for c in checks if c.accuracy.value is not None]
    return float(np.mean(distances)), float(np.mean(accuracies))


def _covered(effect: Effect, value: float) -> bool:
    return (
        effect.interval is not None
        and effect.interval[0] <= value <= effect.interval[1]
    )


def _cells(full: bool, count: Callable[[Sequence[Checked], str], int]) -> list[Cell]:
    """Return a cell for each design and distance, of the runs that are counted."""
    cells: list[Cell] = []
    for design in DESIGNS:
        for name in DISTANCES:
            checks = simulate(design, name, design.runs if full else QUICK_RUNS)
            cells.append(Cell(f"{design}, {name}", count(checks, name), len(checks)))
    return cells


def measure_distance(full: bool) -> list[Cell]:
    """Return how often the interval of MMD² contains the distance."""

    def count(checks: Sequence[Checked], name: str) -> int:
        distance, _ = true_values(checks, name)
        return sum(_covered(c.distance, distance) for c in checks)

    return _cells(full, count)


def measure_accuracy(full: bool) -> list[Cell]:
    """Return how often the interval of the held-out accuracy contains the expected
    accuracy.
    """

    def count(checks: Sequence[Checked], name: str) -> int:
        _, accuracy = true_values(checks, name)
        return sum(_covered(c.accuracy, accuracy) for c in checks)

    return _cells(full, count)


def measure_equivalence(full: bool) -> list[Cell]:
    """Return how often sources are called equivalent within a margin that is their
    distance.
    """

    def count(checks: Sequence[Checked], name: str) -> int:
        distance, _ = true_values(checks, name)
        return sum(
            c.p > MARGIN_LEVEL
            and c.distance.upper is not None
            and c.distance.upper < distance
            for c in checks
        )

    return _cells(full, count)


def measure_nights(full: bool) -> list[Cell]:
    """Return how often a series of nights with equal sources and one baseline has a
    false alarm.
    """
    design = Design(5, 5, 0)
    runs = 1000 if full else 150
    alarms = {"--nights": 0, "--night": 0}
    for run in range(runs):
        rng = np.random.default_rng([run, 54])
        # All answers of a prompt, those of the baseline and of every night, are drawn
        # from one distribution.
        baseline, later = draw_few_texts(
            rng, Design(design.prompts, design.answers * SERIES, 0)
        )
        tonight = [
            [texts[k * design.answers : (k + 1) * design.answers] for texts in later]
            for k in range(SERIES)
        ]
        kept = [texts[: design.answers] for texts in baseline]
        for option in alarms:
            alarms[option] += any(
                _finds(
                    (kept, answers),
                    NightSeries(night, SERIES if option == "--nights" else None),
                    [run, night],
                )
                for night, answers in enumerate(tonight, 1)
            )
    return [
        Cell(f"{design}, {SERIES} nights, {option}", hits, runs)
        for option, hits in alarms.items()
    ]


def _finds(answers: Answers, series: NightSeries, seed: Sequence[int]) -> bool:
    """Return whether the check of a night finds a difference."""
    state = int(np.random.SeedSequence(seed).generate_state(1)[0])
    settings = Settings(("n-grams",), 1000, state, series.level(0.05))
    prompts = check(answers)
    return (
        adaptive_p(resolve(prompts, evaluate(prompts, settings), settings))
        <= settings.alpha
    )


def measure_total_change(full: bool) -> list[Cell]:
    """Return how often refusals in place of all answers are found, by night."""
    design = Design(5, 10, 0)
    runs = 50 if full else 2
    cells: list[Cell] = []
    for night in NIGHTS:
        for series, option in (
            (NightSeries(night), "--night"),
            (NightSeries(night, max(NIGHTS)), "--nights"),
        ):
            found = sum(
                _finds(
                    draw_refusals(np.random.default_rng([run, 55]), design, 1.0),
                    series,
                    [run, night],
                )
                for run in range(runs)
            )
            cells.append(Cell(f"{design}, night {night}, {option}", found, runs))
    return cells


PROMISES: Sequence[Promise] = (
    Promise(
        "same-distance",
        "`same`: the 95 % interval of MMD² contains the distance of the sources",
        PLACES,
        0.93,
        measure_distance,
        at_least=True,
    ),
    Promise(
        "same-accuracy",
        "`same`: the 95 % interval of the held-out accuracy contains the accuracy "
        "that is expected at this training size",
        PLACES,
        0.93,
        measure_accuracy,
        at_least=True,
    ),
    Promise(
        "same-margin",
        "`same --margin`: sources whose MMD² is the margin are called equivalent",
        PLACES,
        0.06,
        measure_equivalence,
    ),
    Promise(
        "same-nights",
        "`same --nights N`, `--night K`: a series of checks of equal sources has a "
        "false alarm",
        PLACES,
        0.05,
        measure_nights,
    ),
    Promise(
        "same-change",
        "`same --night K`, `--nights N`: refusals in place of all answers are found "
        "on every night",
        PLACES,
        1.0,
        measure_total_change,
        at_least=True,
        exact=True,
    ),
)
