"""Numbers of prompts and answers with which ``harness same`` finds named changes, from the answers of one source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.analysis.answer_kernels import TOKEN
from harness.analysis.same import Alternative, Prompt, Settings, Source, evaluate, replace_answers

ANSWERS = (5, 10, 20)
PROMPTS = (5, 10, 25, 50, 100)
RUNS = 40


@dataclass(frozen=True)
class Design:
    """A size of a check with its power against a change."""

    change: str
    answers: int
    """Answers of each source and prompt."""
    prompts: int
    power: float


def substitute_words(answers: Sequence[Sequence[str]], rng: np.random.Generator) -> list[list[str]]:
    """Return answers with one word of a hundred replaced by a random word of all answers."""
    words = [word for texts in answers for text in texts for word in text.split()] or [""]
    return [
        [" ".join(words[rng.integers(len(words))] if rng.random() < 0.01 else word for word in text.split()) for text in texts]
        for texts in answers
    ]


def truncate(answers: Sequence[Sequence[str]], rng: np.random.Generator) -> list[list[str]]:
    """Return answers cut at the number of words that one in five exceeds."""
    most = int(np.quantile([len(text.split()) for texts in answers for text in texts], 0.8))
    return [[" ".join(text.split()[:most]) for text in texts] for texts in answers]


def changes(other: Source | None) -> dict[str, Alternative | float]:
    """Return name -> change, or the temperature whose answers are drawn in place of those at 1."""
    out: dict[str, Alternative | float] = {
        "temperature -0.1": 0.9, "temperature +0.1": 1.1, "one answer in ten replaced": replace_answers(0.1),
        "1 % of words substituted": substitute_words, "truncated at the longest fifth": truncate,
    }  # fmt: skip
    return out if other is None else {**out, other.label: 1.0}


def plan(source: Source, settings: Settings, other: Source | None = None, power: float = 0.8) -> Iterator[Design]:
    """Yield for each change and number of answers the smallest number of prompts that reaches a power, or the largest tried.

    Both sources are drawn with replacement from the answers to drawn prompts; ``other`` is a second source, such as a quantised model. A
    temperature is approximated: an answer has the weight exp((1 / T - 1) log p) under a bigram model of all answers.
    """
    names = [name for name, texts in source.answers.items() if len(texts) > 1 and (other is None or other.answers.get(name))]
    scores = _log_likelihoods(source, names)
    settings = replace(settings, draws=199)
    for title, change in changes(other).items():
        for answers in ANSWERS:
            for prompts in PROMPTS:
                found = sum(
                    evaluate(_checks(source, names, scores, change, other if other and title == other.label else None, (prompts, answers),
                                     np.random.default_rng([settings.seed, run])), settings).p <= settings.alpha
                    for run in range(RUNS)
                ) / RUNS  # fmt: skip
                if found >= power or prompts == PROMPTS[-1]:
                    yield Design(title, answers, prompts, found)
                    break


def _checks(
    source: Source, names: Sequence[str], scores: dict[str, np.ndarray], change: Alternative | float, other: Source | None,
    size: tuple[int, int], rng: np.random.Generator,
) -> list[Prompt]:  # fmt: skip
    """Return the prompts of one simulated check."""
    prompts, answers = size
    chosen = [names[k] for k in rng.integers(len(names), size=prompts)]

    def draw(held: Source, temperature: float) -> list[list[str]]:
        out: list[list[str]] = []
        for name in chosen:
            tilt = (1 / temperature - 1) * scores[name] if held is source else np.zeros(len(held.answers[name]))
            weights = np.exp(tilt - tilt.max())
            out.append([held.answers[name][k] for k in rng.choice(len(weights), answers, p=weights / weights.sum())])
        return out

    a, b = draw(source, 1.0), draw(other or source, change if isinstance(change, float) else 1.0)
    changed = b if isinstance(change, float) else change(b, rng)
    return [Prompt(str(k), texts, others) for k, (texts, others) in enumerate(zip(a, changed))]


def _log_likelihoods(source: Source, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the log-likelihoods of the answers to each prompt under a bigram model of all answers, with add-one-half smoothing."""
    tokens = {name: [["", *TOKEN.findall(text), ""] for text in source.answers[name]] for name in names}
    listed = [words for texts in tokens.values() for words in texts]
    pairs = Counter(pair for words in listed for pair in zip(words, words[1:]))
    firsts = Counter(word for words in listed for word in words[:-1])
    return {
        name: np.array([sum(np.log((pairs[x, y] + 0.5) / (firsts[x] + 0.5 * len(firsts))) for x, y in zip(w, w[1:])) for w in texts])
        for name, texts in tokens.items()
    }
