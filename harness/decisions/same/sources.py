"""Sources of answers that ``harness same`` compares, and the prompts that two of them
have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.decisions.same.answer_kernels import REFUSAL
from harness.errors import InputError, counted
from harness.stats.stratified_test import smallest_p, strata_of

MOST_SAMPLES = 500
"""Number of answers of a source and prompt that are compared; random ones of more,
so that memory is bounded.
"""


@dataclass(frozen=True)
class Source:
    """Answers of a source."""

    label: str
    answers: Mapping[str, Sequence[str]]
    """Answers by the id of the prompt."""
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of the prompts that are known, by id."""
    kind: str = "source"
    """Origin of the answers: ``file``, or a ``source`` of another kind."""


@dataclass(frozen=True)
class Prompt:
    """A prompt with its answers."""

    id: str
    a: Sequence[str]
    b: Sequence[str]
    p: float = 1.0
    """P-value of this prompt alone."""


def common_prompts(
    a: Source, b: Source, seed: int = 0
) -> tuple[list[Prompt], list[str]]:
    """Return the prompts that both sources answer, at most :data:`MOST_SAMPLES` answers
    of each, and remarks on what is left out.
    """
    names = [name for name, texts in a.answers.items() if texts and b.answers.get(name)]
    if not names:
        raise InputError(
            f"{a.label} and {b.label} have no prompt in common: "
            f"{counted(len(a.answers), 'id')} and {len(b.answers):,}"
        )
    for name in names:
        of_a = a.prompts.get(name)
        of_b = b.prompts.get(name)
        if of_a is not None and of_b is not None and of_a != of_b:
            raise InputError(
                f"the id '{name}' has different prompts: {of_a!r:.60} and {of_b!r:.60}",
                b.label,
            )

    # Two seeds: of lists that were written side by side, positions are not compared.
    prompts = [
        Prompt(
            name,
            _draw_answers(a.answers[name], seed),
            _draw_answers(b.answers[name], seed + 1),
        )
        for name in names
    ]

    notes = [*_describe_source(a, names), *_describe_source(b, names)]
    if repeat_one_answer(prompts):
        unequal = sum(prompt.a[0] != prompt.b[0] for prompt in prompts)
        notes.append(
            "each source repeats one answer per prompt, as at temperature 0: "
            f"they differ in {unequal} of {len(prompts)} prompts"
        )
    if all(len(prompt.a) == len(prompt.b) == 1 for prompt in prompts):
        notes.append(
            "one answer of each source per prompt: relabeling them leaves every "
            "statistic within prompts as it is"
        )
    return prompts, notes


def _describe_source(source: Source, names: Sequence[str]) -> list[str]:
    """Return remarks on the answers of a source to the common prompts."""
    notes: list[str] = []
    if missing := len(source.answers) - len(names):
        notes.append(
            f"{source.label}: {counted(missing, 'prompt', 'is/are')} left out, "
            "without answers of the other source"
        )
    texts = [text for name in names for text in source.answers[name]]
    for kind, number in (
        ("empty answer", sum(not text.strip() for text in texts)),
        ("refusal", sum(bool(REFUSAL.search(text)) for text in texts)),
    ):
        if number:
            notes.append(f"{source.label}: {counted(number, kind, 'is/are')} kept")

    large = sum(len(source.answers[name]) > MOST_SAMPLES for name in names)
    if large:
        notes.append(
            f"{source.label}: {counted(large, 'prompt', 'has/have')} more than "
            f"{MOST_SAMPLES} answers, of which as many are drawn"
        )
    return notes


def smallest_p_of(a: Source, b: Source) -> float:
    """Return the smallest p-value that the numbers of answers of two sources allow."""
    prompts, _ = common_prompts(a, b)
    return smallest_p(strata_of([(len(prompt.a), len(prompt.b)) for prompt in prompts]))


def _draw_answers(texts: Sequence[str], seed: int) -> Sequence[str]:
    if len(texts) <= MOST_SAMPLES:
        return texts
    order = np.random.default_rng(seed).permutation(len(texts))
    return choose(texts, order[:MOST_SAMPLES])


def choose(texts: Sequence[str], positions: np.ndarray) -> list[str]:
    """Return the texts at some positions."""
    indices: list[int] = positions.tolist()
    return [texts[k] for k in indices]


def repeat_one_answer(prompts: Sequence[Prompt]) -> bool:
    """Return True where each source repeats one answer to a prompt."""
    return all(
        len(set(texts)) == 1 for prompt in prompts for texts in (prompt.a, prompt.b)
    )
