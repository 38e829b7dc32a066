"""Test of two or more sources of answers: do they write the same distribution?

The labels of the answers are permuted within each prompt
(:mod:`harness.stats.stratified_test`). The p-value is that of several string kernels
within prompts and of shifts across prompts together; its cost is that of one set of
relabelings.

A level below that of a single check needs more relabelings
(:mod:`harness.decisions.same.level`). They are drawn while the p-value is small: ten
times as many, again and again. Of stages with the valid p-values p1, p2, ... over all
relabelings so far, the test stops at the first one whose p is above c_j, with c1 > c2 >
..., and its p is that of the last stage. It is valid: for t in (c_j, c_(j-1)] a p of at
most t needs a stage j or later, and either p_j <= t or p_j <= c_j < t, hence p_j <= t.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.decisions.same.answer_kernels import KERNELS
from harness.decisions.same.effects import Effect, held_out_accuracy
from harness.decisions.same.level import draws_needed
from harness.decisions.same.power import power_against, replace_answers
from harness.decisions.same.sources import (
    Prompt,
    Source,
    common_prompts,
    repeat_one_answer,
)
from harness.decisions.same.statistics import (
    DEFAULT_SETTINGS,
    Evaluation,
    Settings,
    evaluate,
)
from harness.stats.multiplicity import holm
from harness.stats.stratified_test import (
    adaptive_p,
    rank_shares,
    smallest_p,
    westfall_young,
)

CHUNK = 20_000
"""Number of further relabelings that are evaluated at once, so that memory is bounded.
"""
PROMISING = 20
"""Number of relabelings, among all, with at least the observed value up to which
further ones are drawn.
"""
ALIKE = 0.995
"""Smallest p-value of all kernels from which the sources are taken as dependent."""


@dataclass(frozen=True)
class Feature:
    """A property of answers, with its mean in both sources and its p-value, adjusted by
    the largest one over all properties.
    """

    name: str
    a: float
    b: float
    p: float


@dataclass(frozen=True)
class SourceComparison:
    """Result of the test of two sources."""

    labels: tuple[str, str]
    p: float
    """P-value; of several pairs of sources adjusted by Holm."""
    verdict: str
    """``different``, ``equivalent within margin`` or ``not shown``."""
    exact: bool
    relabelings: int
    floor: float
    """Smallest p-value that the numbers of answers and of relabelings allow."""
    kernels: Mapping[str, float]
    """P-value of each kernel and of the shifts alone, not adjusted."""
    effect: Effect
    """Mean over prompts of the unbiased MMD^2 of the first kernel, or of a metric's
    excess over its mean under relabeling; prompts with one answer of a source have no
    MMD^2 (:func:`~harness.decisions.same.effects.effect_over_prompts`).
    """
    accuracy: Effect
    """Share of pairs of answers of held-out prompts whose sources are told apart, at
    the training size of these prompts; .5: none
    (:func:`~harness.decisions.same.effects.held_out_accuracy`).
    """
    power: float | None
    """Power against one answer in ten replaced; None where it was not simulated: a
    difference is shown, or the sources are dependent.
    """
    features: Sequence[Feature]
    prompts: Sequence[Prompt]
    """Prompts in the order of their p-values."""
    notes: Sequence[str] = field(default_factory=list[str])


def compare_sources(
    a: Source, b: Source, settings: Settings = DEFAULT_SETTINGS
) -> SourceComparison:
    """Return the test of two sources.

    Raises
    ------
    InputError
        When no prompt has answers of both sources.
    """
    prompts, notes = common_prompts(a, b, settings.seed)
    outcome = evaluate(prompts, settings)
    sums = outcome.sums
    relabelings = outcome.relabelings
    columns = resolve(prompts, outcome, settings)
    p = adaptive_p(columns)
    floor = smallest_p(outcome.strata)
    if not relabelings.exact:
        floor = max(floor, 1 / max(relabelings.number, _needed(settings)))
    if floor * settings.tests > settings.alpha:
        notes.append(
            f"nothing can be shown at level {settings.alpha / settings.tests:.3g}: "
            f"the smallest possible p is {floor:.3g}"
        )

    effect = outcome.effect(settings.kernels[0])
    accuracy = held_out_accuracy(
        outcome.strata, outcome.features, settings.draws, settings.seed
    )
    of_kernels = outcome.columns[:, : len(settings.kernels)]
    reason, valid = _dependence(a, b, prompts, of_kernels)
    if reason:
        effect = effect.without_interval(reason)
        accuracy = accuracy.without_interval(reason)
        if not valid:
            reason += ": a copy, one seed or one cache for both makes the test invalid"
        notes.append(reason)

    power = None
    if settings.power and valid and p > settings.alpha:
        power = power_against(prompts, replace_answers(0.1), settings)
    tested = [replace(prompt, p=float(q)) for prompt, q in zip(prompts, sums.prompt_p)]
    return SourceComparison(
        labels=(a.label, b.label),
        p=p,
        verdict=_verdict(p, effect, settings),
        exact=relabelings.exact,
        relabelings=len(columns),
        floor=floor,
        kernels=dict(zip(outcome.tested, rank_shares(columns)[0].tolist())),
        effect=effect,
        accuracy=accuracy,
        power=power,
        features=_features(prompts, outcome),
        prompts=sorted(tested, key=lambda prompt: prompt.p),
        notes=notes,
    )


def _features(prompts: Sequence[Prompt], outcome: Evaluation) -> list[Feature]:
    """Return the features of the answers, those with the smallest p-values first."""
    shifts = outcome.sums.shifts[:, : len(outcome.names)]
    adjusted = westfall_young(shifts)
    is_a = np.concatenate(
        [[True] * len(prompt.a) + [False] * len(prompt.b) for prompt in prompts]
    )
    means_a = outcome.features[is_a].mean(axis=0)
    means_b = outcome.features[~is_a].mean(axis=0)

    # Equal shifts differ in their last bits by processor: rounded, they keep the order
    # of the columns.
    order: list[int] = np.lexsort((-np.abs(shifts[0]).round(9), adjusted)).tolist()
    return [
        Feature(
            outcome.names[k], float(means_a[k]), float(means_b[k]), float(adjusted[k])
        )
        for k in order
    ]


def resolve(
    prompts: Sequence[Prompt], outcome: Evaluation, settings: Settings
) -> np.ndarray:
    """Return the statistics under as many relabelings as the level needs, as long as
    their p-value is small, shape (P, J).
    """
    columns = outcome.columns
    if outcome.relabelings.exact:
        return columns

    # Ten times as many at a time: most p-values are large at the first stage.
    needed = _needed(settings)
    while len(columns) < needed and adaptive_p(columns) <= PROMISING / len(columns):
        size = min(10 * len(columns), needed)
        if not set(settings.kernels) <= set(KERNELS):
            # Scores of a metric are standardised by all relabelings in use, and cannot
            # be joined.
            columns = evaluate(prompts, replace(settings, draws=size - 1)).columns
        while len(columns) < size:
            # Each chunk has a seed of its own, and the observed labels once more.
            seeds = np.random.SeedSequence([settings.seed, len(columns)])
            further = replace(
                settings,
                draws=min(CHUNK, size - len(columns)),
                seed=int(seeds.generate_state(1)[0]),
            )
            columns = np.concatenate([columns, evaluate(prompts, further).columns[1:]])
    return columns


def _needed(settings: Settings) -> int:
    return draws_needed(settings.alpha / settings.tests, settings.kernels)


def _dependence(
    a: Source, b: Source, prompts: Sequence[Prompt], columns: np.ndarray
) -> tuple[str, bool]:
    """Return the reason why the answers are no evidence of equal sources, empty where
    they may be, and True where the test is valid all the same.

    Sources that repeat one answer to a prompt, as at temperature 0, may hold the same
    answers without having shared anything.
    """
    are_copies = all(
        sorted(a.answers[prompt.id]) == sorted(b.answers[prompt.id])
        for prompt in prompts
    )
    if are_copies:
        kind = a.kind if a.kind == b.kind else "source"
        return f"both {kind}s hold the same answers", repeat_one_answer(prompts)
    if np.ptp(columns, axis=0).any() and rank_shares(columns)[0].min() >= ALIKE:
        return "answers are more alike between the sources than within them", False
    return "", True


def compare_all(
    sources: Sequence[Source], settings: Settings = DEFAULT_SETTINGS
) -> list[SourceComparison]:
    """Return the tests of all pairs of sources, their p-values adjusted by Holm."""
    pairs = list(itertools.combinations(sources, 2))
    shared = replace(settings, tests=len(pairs))
    results = [compare_sources(a, b, shared) for a, b in pairs]
    adjusted = holm([result.p for result in results])
    return [
        replace(result, p=float(p), verdict=_verdict(float(p), result.effect, settings))
        for result, p in zip(results, adjusted)
    ]


def _verdict(p: float, effect: Effect, settings: Settings) -> str:
    if p <= settings.alpha:
        return "different"
    if settings.margin is None or effect.upper is None:
        return "not shown"
    is_within = effect.upper < settings.margin
    return "equivalent within margin" if is_within else "not shown"
