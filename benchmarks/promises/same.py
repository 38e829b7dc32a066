"""What ``harness same`` promises: coverage of its intervals, error of "equivalent within margin", false alarms over nights, found changes.

The sources are random: each prompt has texts of its own with probabilities of their own, from which answers are drawn independently.
*Few texts* are eight per prompt, of which one or two are frequent: squared distances are skewed. *Many texts* have six words, each one of
four with probabilities of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from benchmarks.promises.promise import Cell, Promise
from harness.analysis.same import Prompt, Settings, evaluate, resolve
from harness.analysis.same_effects import Effect, held_out_accuracy
from harness.analysis.same_level import Series
from harness.stats.stratified_test import adaptive_p

WORDS = [f"word{k}" for k in range(60)]
DRAWS = 199
"""Relabelings of a simulated check; fewer than the default make intervals wider and less sure, not narrower."""


@dataclass(frozen=True)
class Design:
    """A size of a check."""

    prompts: int
    answers: int
    runs: int
    """Number of runs of the full measurement."""

    def __str__(self) -> str:
        return f"{self.prompts} prompts x {self.answers} answers"


DESIGNS: Sequence[Design] = (Design(5, 10, 2000), Design(25, 10, 2000), Design(100, 5, 1000))

Answers = tuple[list[list[str]], list[list[str]]]
"""Answers of two sources to each prompt."""


def draw_few_texts(rng: np.random.Generator, design: Design, replaced: float = 0.0) -> Answers:
    """Return answers out of eight texts per prompt; a share of those of the second source is replaced by texts of another prompt."""
    texts = [[" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(8)] for _ in range(design.prompts)]
    first: list[list[str]] = []
    second: list[list[str]] = []
    for k, own in enumerate(texts):
        shares = rng.dirichlet(np.full(8, 0.3))
        first.append([own[j] for j in rng.choice(8, design.answers, p=shares)])
        other = texts[(k + 1) % design.prompts]
        drawn = [own[j] for j in rng.choice(8, design.answers, p=shares)]
        second.append([other[rng.integers(8)] if rng.random() < replaced else text for text in drawn])
    return first, second


def draw_many_texts(rng: np.random.Generator, design: Design, temperature: float = 1.0) -> Answers:
    """Return answers of six words each; those of the second source are drawn at a temperature."""
    first: list[list[str]] = []
    second: list[list[str]] = []
    for _ in range(design.prompts):
        words = rng.choice(WORDS, (6, 4))
        shares = rng.dirichlet(np.full(4, 0.7), 6)
        cooled = shares ** (1 / temperature)
        for answers, probabilities in ((first, shares), (second, cooled / cooled.sum(axis=1, keepdims=True))):
            places = (rng.random((design.answers, 6, 1)) > probabilities.cumsum(axis=1)).sum(axis=2).clip(0, 3)
            answers.append([" ".join(words[range(6), row]) for row in places])
    return first, second


DISTANCES: dict[str, Callable[[np.random.Generator, Design], Answers]] = {
    "equal sources": draw_few_texts,
    "one answer in ten replaced": partial(draw_few_texts, replaced=0.1),
    "temperature .6": partial(draw_many_texts, temperature=0.6),
}
"""Name -> sources; of the first ones both distances are known: 0, and an accuracy of .5."""


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
        prompts = check(DISTANCES[name](np.random.default_rng([run, design.prompts, 53]), design))
        outcome = evaluate(prompts, Settings(("n-grams",), DRAWS, run))
        accuracy = held_out_accuracy(outcome.strata, outcome.features, DRAWS, run)
        found.append(Checked(outcome.p, outcome.effect("n-grams"), accuracy))
    return found


def true_values(checks: Sequence[Checked], name: str) -> tuple[float, float]:
    """Return the distance and the accuracy that the intervals are for: both numbers are unbiased, so that their means over runs are."""
    if name == "equal sources":
        return 0.0, 0.5
    return float(np.mean([c.distance.value for c in checks])), float(np.mean([c.accuracy.value for c in checks]))


def _covered(effect: Effect, value: float) -> bool:
    return effect.interval is not None and effect.interval[0] <= value <= effect.interval[1]
