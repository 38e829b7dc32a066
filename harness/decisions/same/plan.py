"""Numbers of prompts and answers with which ``harness same`` finds named changes, from
the answers of one source.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.decisions.same.answer_kernels import TOKEN
from harness.decisions.same.power import Alternative, replace_answers, share_found
from harness.decisions.same.sources import Prompt, Source, choose
from harness.decisions.same.statistics import Settings
from harness.errors import InputError

ANSWERS = (5, 10, 20)
"""Numbers of answers of a source and prompt that a plan tries."""
PROMPTS = (5, 10, 25, 50, 100)
"""Numbers of prompts that it tries."""
RUNS = 40
"""Number of simulated checks of a size."""


@dataclass(frozen=True)
class Design:
    """A size of a check with its power against a change."""

    change: str
    answers: int
    """Answers of each source and prompt."""
    prompts: int
    power: float


def substitute_words(
    answers: Sequence[Sequence[str]], rng: np.random.Generator
) -> list[list[str]]:
    """Return answers with one word of a hundred replaced by a random word of all
    answers.
    """
    words = [word for texts in answers for text in texts for word in text.split()]
    words = words or [""]

    def draw(word: str) -> str:
        return words[rng.integers(len(words))] if rng.random() < 0.01 else word

    return [[" ".join(map(draw, text.split())) for text in texts] for texts in answers]


def truncate(
    answers: Sequence[Sequence[str]], rng: np.random.Generator
) -> list[list[str]]:
    """Return answers cut at the number of words that one in five exceeds."""
    lengths = [len(text.split()) for texts in answers for text in texts]
    limit = int(np.quantile(lengths, 0.8))
    return [[" ".join(text.split()[:limit]) for text in texts] for texts in answers]


def changes(other: Source | None) -> dict[str, Alternative | float]:
    """Return name -> change, or the temperature whose answers are drawn in place of
    those at 1.
    """
    out: dict[str, Alternative | float] = {
        "temperature -0.1": 0.9,
        "temperature +0.1": 1.1,
        "one answer in ten replaced": replace_answers(0.1),
        "1 % of words substituted": substitute_words,
        "truncated at the longest fifth": truncate,
    }
    return out if other is None else {**out, other.label: 1.0}


def plan(
    source: Source, settings: Settings, other: Source | None = None, power: float = 0.8
) -> Iterator[Design]:
    """Yield for each change and number of answers the smallest number of prompts that
    reaches a power, or the largest tried.

    Both sources of a simulated check are drawn with replacement from the answers to
    drawn prompts. ``other`` is a second source, such as a quantised model. The answers
    at a temperature are drawn with the weights of :func:`tempered_weights`.
    """
    names = [
        name
        for name, texts in source.answers.items()
        if len(texts) > 1 and (other is None or other.answers.get(name))
    ]
    if not names:
        raise InputError(
            f"{source.label} has no prompt with several answers; a plan draws from them"
        )

    for title, change in changes(other).items():
        second = other if other is not None and title == other.label else source
        temperature = change if isinstance(change, float) else 1.0
        weights = tempered_weights(second, names, temperature)
        simulation = _Simulation(source, second, names, change, weights)

        is_reached = False
        for answers, prompts in itertools.product(ANSWERS, PROMPTS):
            # With as many answers more prompts reach it too.
            if is_reached and prompts > PROMPTS[0]:
                continue
            generators = (
                np.random.default_rng([settings.seed, run]) for run in range(RUNS)
            )
            checks = (simulation.check(rng, answers, prompts) for rng in generators)
            share = share_found(checks, RUNS, settings)
            is_reached = share >= power
            if is_reached or prompts == PROMPTS[-1]:
                yield Design(title, answers, prompts, share)


@dataclass(frozen=True)
class _Simulation:
    """Sources from which simulated checks draw their answers."""

    source: Source
    second: Source
    names: Sequence[str]
    """Ids of the prompts to draw from."""
    change: Alternative | float
    weights: Mapping[str, np.ndarray]
    """Id -> probabilities of the answers of the second source."""

    def check(
        self, rng: np.random.Generator, answers: int, prompts: int
    ) -> list[Prompt]:
        """Return the prompts of one check of so many answers and prompts."""
        names = choose(self.names, rng.integers(len(self.names), size=prompts))
        a: list[list[str]] = []
        for name in names:
            texts = self.source.answers[name]
            a.append(choose(texts, rng.integers(len(texts), size=answers)))

        b: list[list[str]] = []
        for name in names:
            weights = self.weights[name]
            drawn = rng.choice(len(weights), answers, p=weights)
            b.append(choose(self.second.answers[name], drawn))

        changed = self.change(b, rng) if callable(self.change) else b
        return [
            Prompt(str(k), texts, others)
            for k, (texts, others) in enumerate(zip(a, changed))
        ]


def tempered_weights(
    source: Source, names: Sequence[str], temperature: float
) -> dict[str, np.ndarray]:
    """Return the probabilities with which answers are drawn that imitate a temperature,
    relative to that of the source.

    A bigram model of all answers, with add-one-half smoothing, has the probabilities p
    at the temperature of the source; the weight of an answer is the product over its
    tokens of p^(1 / T - 1) / sum p^(1 / T).
    """
    tokens = {
        name: [["", *TOKEN.findall(text), ""] for text in source.answers[name]]
        for name in names
    }
    pairs = Counter(
        pair
        for texts in tokens.values()
        for words in texts
        for pair in itertools.pairwise(words)
    )
    firsts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for (word, _), count in pairs.items():
        firsts[word] += count
        kinds[word] += 1

    # Sums of p^(1 / T) over the words that may follow: first those that never did.
    size = len(firsts)
    power = 1 / temperature
    total = {
        word: (size - kinds[word]) * (0.5 / (firsts[word] + 0.5 * size)) ** power
        for word in firsts
    }
    for (word, _), count in pairs.items():
        total[word] += ((count + 0.5) / (firsts[word] + 0.5 * size)) ** power

    def score(words: Sequence[str]) -> float:
        probabilities = (
            (x, (pairs[x, y] + 0.5) / (firsts[x] + 0.5 * size))
            for x, y in itertools.pairwise(words)
        )
        return float(
            sum((power - 1) * np.log(p) - np.log(total[x]) for x, p in probabilities)
        )

    scores = {
        name: np.array([score(words) for words in texts])
        for name, texts in tokens.items()
    }
    weights = {
        name: np.exp(of_name - of_name.max()) for name, of_name in scores.items()
    }
    return {name: of_name / of_name.sum() for name, of_name in weights.items()}
