"""Test of two or more sources of answers: do they write the same distribution?

The labels of the answers are permuted within each prompt
(:mod:`harness.stats.stratified_test`). The p-value is that of several string kernels
within prompts and of shifts across prompts together; its cost is that of one set of
relabelings.

A level below that of a single check needs more relabelings
(:mod:`harness.analysis.same_level`). They are drawn while the p-value is small: ten
times as many, again and again. Of stages with the valid p-values p1, p2, ... over all
relabelings so far, the test stops at the first one whose p is above c_j, with c1 > c2 >
..., and its p is that of the last stage. It is valid: for t in (c_j, c_(j-1)] a p of at
most t needs a stage j or later, and either p_j <= t or p_j <= c_j < t, hence p_j <= t.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.analysis.answer_kernels import KERNELS, REFUSAL, Answers
from harness.analysis.metric_kernels import MetricKernels
from harness.analysis.same_effects import (
    Effect,
    degrees_of_freedom,
    effect_over_prompts,
    held_out_accuracy,
)
from harness.analysis.same_level import RESOLUTION, draws_needed
from harness.errors import InputError, counted
from harness.stats.multiplicity import holm
from harness.stats.stratified_test import (
    Relabelings,
    Stratum,
    Sums,
    adaptive_p,
    rank_shares,
    relabel_sums,
    smallest_p,
    standardise_values,
    strata_of,
    westfall_young,
)

DRAWS = 1000
"""Number of random relabelings at first."""
CHUNK = 20_000
"""Number of further relabelings that are evaluated at once, so that memory is bounded.
"""
PROMISING = 20
"""Number of relabelings, among all, with at least the observed value up to which
further ones are drawn.
"""
MOST_SAMPLES = 500
"""Number of answers of a source and prompt that are compared; random ones of more,
so that memory is bounded.
"""
POWER_RUNS = 100
POWER_PROMPTS = 100
POWER_DRAWS = 199
ALIKE = 0.995
"""Smallest p-value of all kernels from which the sources are taken as dependent."""


@dataclass(frozen=True)
class Source:
    """Answers of a source."""

    label: str
    answers: Mapping[str, Sequence[str]]
    """Answers by the id of the prompt."""
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of the prompts that are known, by id."""
    kind: str = "source"
    """What the answers are read from: ``file``, or a ``source`` of another kind."""


@dataclass(frozen=True)
class Settings:
    """Settings of a comparison of sources."""

    kernels: Sequence[str] = KERNELS
    """String kernels, and metrics (:mod:`harness.analysis.metric_kernels`); the effect
    is that of the first one.
    """
    draws: int = DRAWS
    seed: int = 0
    alpha: float = 0.05
    """Level of the check."""
    tests: int = 1
    """Number of pairs of sources that share the level by Holm: more relabelings are
    drawn where the level of one pair needs them.
    """
    margin: float | None = None
    """Largest unbiased MMD^2 that counts as equivalent."""
    power: bool = True
    """Simulate the power against one answer in ten replaced,
    where no difference is shown.
    """


@dataclass(frozen=True)
class Prompt:
    """A prompt with its answers."""

    id: str
    a: Sequence[str]
    b: Sequence[str]
    p: float = 1.0
    """P-value of this prompt alone."""


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
    MMD^2 (:func:`~harness.analysis.same_effects.effect_over_prompts`).
    """
    accuracy: Effect
    """Share of pairs of answers of held-out prompts whose sources are told apart, at
    the training size of these prompts; .5: none
    (:func:`~harness.analysis.same_effects.held_out_accuracy`).
    """
    power: float | None
    """Power against one answer in ten replaced; None where it was not simulated: a
    difference is shown, or the sources are dependent.
    """
    features: Sequence[Feature]
    prompts: Sequence[Prompt]
    """Prompts in the order of their p-values."""
    notes: Sequence[str] = field(default_factory=list[str])


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
        if (
            name in a.prompts
            and name in b.prompts
            and a.prompts[name] != b.prompts[name]
        ):
            raise InputError(
                f"the id '{name}' has different prompts: "
                f"{a.prompts[name]!r:.60} and {b.prompts[name]!r:.60}",
                b.label,
            )
    notes: list[str] = []
    for source in (a, b):
        if missing := len(source.answers) - len(names):
            notes.append(
                f"{source.label}: {counted(missing, 'prompt', 'is/are')} left out, "
                "without answers of the other source"
            )
        texts = [text for name in names for text in source.answers[name]]
        for kind, number in (
            ("empty answer", sum(not t.strip() for t in texts)),
            ("refusal", sum(bool(REFUSAL.search(t)) for t in texts)),
        ):
            if number:
                notes.append(f"{source.label}: {counted(number, kind, 'is/are')} kept")
        large = sum(len(source.answers[name]) > MOST_SAMPLES for name in names)
        if large:
            notes.append(
                f"{source.label}: {counted(large, 'prompt', 'has/have')} more than "
                f"{MOST_SAMPLES} answers, of which as many are drawn"
            )
    prompts = [
        Prompt(
            name,
            _draw_answers(a.answers[name], seed),
            _draw_answers(b.answers[name], seed + 1),
        )
        for name in names
    ]
    if _repeat_one_answer(prompts):
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


def smallest_p_of(a: Source, b: Source) -> float:
    """Return the smallest p-value that the numbers of answers of two sources allow."""
    prompts, _ = common_prompts(a, b)
    return smallest_p(strata_of([(len(prompt.a), len(prompt.b)) for prompt in prompts]))


def _draw_answers(texts: Sequence[str], seed: int) -> Sequence[str]:
    if len(texts) <= MOST_SAMPLES:
        return texts
    return choose(
        texts, np.random.default_rng(seed).permutation(len(texts))[:MOST_SAMPLES]
    )


def choose(texts: Sequence[str], positions: np.ndarray) -> list[str]:
    """Return the texts at some positions."""
    indices: list[int] = positions.tolist()
    return [texts[k] for k in indices]


@dataclass(frozen=True)
class Evaluation:
    """Statistics of the prompts of two sources under all relabelings."""

    strata: Sequence[Stratum]
    relabelings: Relabelings
    sums: Sums
    names: Sequence[str]
    """Names of the features."""
    features: np.ndarray
    """Features of the texts, shape (T, F)."""
    columns: np.ndarray
    """Statistics that are tested together, shape (P, J)."""
    tested: Sequence[str]
    """Their names: the kernels, those of strings first, and the shifts."""

    @property
    def p(self) -> float:
        """P-value of all statistics together."""
        return adaptive_p(self.columns)

    def effect(self, kernel: str) -> Effect:
        """Return the effect of a kernel, with its interval."""
        column = self.tested.index(kernel)
        freedom = np.full(len(self.sums.effects), np.inf)
        if kernel in KERNELS:
            for stratum in self.strata:
                freedom[stratum.prompts] = degrees_of_freedom(stratum.rows.shape[1])
        return effect_over_prompts(
            self.sums.effects[:, column], self.sums.totals[:, column], freedom
        )


def evaluate(prompts: Sequence[Prompt], settings: Settings) -> Evaluation:
    """Return the statistics of all relabelings of the answers to some prompts."""
    pooled = [[*prompt.a, *prompt.b] for prompt in prompts]
    answers = Answers([text for texts in pooled for text in texts])
    strings = [name for name in settings.kernels if name in KERNELS]
    scored = [name for name in settings.kernels if name not in KERNELS]
    strata = strata_of([(len(prompt.a), len(prompt.b)) for prompt in prompts])
    relabelings = Relabelings(strata, settings.draws, settings.seed)
    names, features = answers.features()
    scores = MetricKernels(scored, pooled).scores if scored else None
    sums = relabel_sums(
        relabelings,
        lambda block: answers.kernels(strings, block.rows),
        features,
        scores,
    )
    size = np.abs(sums.shifts)
    length = size[
        :, [names.index(name) for name in names if name == "length in words"]
    ].sum(axis=1)
    shifts = {
        "largest shift": size.max(axis=1, initial=0.0),
        "all shifts": (size**2).sum(axis=1),
    }
    if strings:
        shifts["similarity"] = size[:, len(names) :].max(axis=1)
    columns = np.column_stack([sums.within, *shifts.values(), length])
    return Evaluation(
        strata,
        relabelings,
        sums,
        names,
        features,
        columns,
        [*strings, *scored, *shifts, "length"],
    )


def compare_sources(
    a: Source, b: Source, settings: Settings = Settings()
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
    reason, valid = _dependence(
        a, b, prompts, outcome.columns[:, : len(settings.kernels)]
    )
    if reason:
        notes.append(
            reason
            if valid
            else f"{reason}: a copy, one seed or one cache for both makes the test "
            "invalid"
        )
        effect = effect.without_interval(reason)
        accuracy = accuracy.without_interval(reason)

    simulated = settings.power and valid and p > settings.alpha
    power = (
        power_against(prompts, replace_answers(0.1), settings) if simulated else None
    )
    adjusted = westfall_young(sums.shifts[:, : len(outcome.names)])
    labels = np.concatenate(
        [[True] * len(prompt.a) + [False] * len(prompt.b) for prompt in prompts]
    )
    means = (
        outcome.features[labels].mean(axis=0),
        outcome.features[~labels].mean(axis=0),
    )
    # Equal shifts differ in their last bits by processor: rounded, they keep the order
    # of the columns.
    order: list[int] = np.lexsort(
        (-np.abs(sums.shifts[0, : len(adjusted)]).round(9), adjusted)
    ).tolist()
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
        features=[
            Feature(
                outcome.names[k],
                float(means[0][k]),
                float(means[1][k]),
                float(adjusted[k]),
            )
            for k in order
        ],
        prompts=sorted(tested, key=lambda prompt: prompt.p),
        notes=notes,
    )


def resolve(
    prompts: Sequence[Prompt], outcome: Evaluation, settings: Settings
) -> np.ndarray:
    """Return the statistics under as many relabelings as the level needs, as long as
    their p-value is small, shape (P, J).
    """
    columns = outcome.columns
    if outcome.relabelings.exact:
        return columns
    while len(columns) < _needed(settings) and adaptive_p(columns) <= PROMISING / len(
        columns
    ):
        size = min(10 * len(columns), _needed(settings))
        if not set(settings.kernels) <= set(KERNELS):
            # Scores of a metric are standardised by all relabelings in use, and cannot
            # be joined.
            columns = evaluate(prompts, replace(settings, draws=size - 1)).columns
        while len(columns) < size:
            seed = int(
                np.random.SeedSequence([settings.seed, len(columns)]).generate_state(1)[
                    0
                ]
            )
            further = replace(
                settings, draws=min(CHUNK, size - len(columns)), seed=seed
            )
            columns = np.concatenate([columns, evaluate(prompts, further).columns[1:]])
    return columns


def _needed(settings: Settings) -> int:
    return draws_needed(settings.alpha / settings.tests, settings.kernels)


def _dependence(
    a: Source, b: Source, prompts: Sequence[Prompt], columns: np.ndarray
) -> tuple[str, bool]:
    """Return why the answers are no evidence of equal sources, empty where they may be,
    and whether the test is valid all the same.

    Sources that repeat one answer to a prompt, as at temperature 0, may hold the same
    answers without having shared anything.
    """
    if all(
        sorted(a.answers[prompt.id]) == sorted(b.answers[prompt.id])
        for prompt in prompts
    ):
        return (
            f"both {a.kind if a.kind == b.kind else 'source'}s hold the same answers",
            _repeat_one_answer(prompts),
        )
    if np.ptp(columns, axis=0).any() and rank_shares(columns)[0].min() >= ALIKE:
        return "answers are more alike between the sources than within them", False
    return "", True


def _repeat_one_answer(prompts: Sequence[Prompt]) -> bool:
    return all(
        len(set(texts)) == 1 for prompt in prompts for texts in (prompt.a, prompt.b)
    )


def compare_all(
    sources: Sequence[Source], settings: Settings = Settings()
) -> list[SourceComparison]:
    """Return the tests of all pairs of sources, their p-values adjusted by Holm."""
    pairs = list(itertools.combinations(sources, 2))
    shared = replace(settings, tests=len(pairs))
    results = [compare_sources(a, b, shared) for a, b in pairs]
    adjusted = holm([result.p for result in results])
    return [
        replace(r, p=float(p), verdict=_verdict(float(p), r.effect, settings))
        for r, p in zip(results, adjusted)
    ]


def _verdict(p: float, effect: Effect, settings: Settings) -> str:
    if p <= settings.alpha:
        return "different"
    within = (
        settings.margin is not None
        and effect.upper is not None
        and effect.upper < settings.margin
    )
    return "equivalent within margin" if within else "not shown"


# --------------------------------------------------------------------------- power
Alternative = Callable[[Sequence[Sequence[str]], np.random.Generator], list[list[str]]]
"""Answers of all prompts -> answers of a changed source."""


def replace_answers(share: float) -> Alternative:
    """Return the alternative of answers that are replaced by those of another
    prompt.
    """

    def change(
        answers: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> list[list[str]]:
        pool = [text for texts in answers for text in texts]
        return [
            [
                pool[rng.integers(len(pool))] if rng.random() < share else text
                for text in texts
            ]
            for texts in answers
        ]

    return change


def power_against(
    prompts: Sequence[Prompt],
    change: Alternative,
    settings: Settings,
    runs: int = POWER_RUNS,
) -> float:
    """Return the share of simulated checks that find a changed source.

    Each check divides the answers of a prompt at random into two sources of the same
    sizes and changes the second one. Beyond :data:`POWER_PROMPTS` prompts the first
    ones are used: the power of all is larger.
    """

    def simulate(run: int) -> list[Prompt]:
        rng = np.random.default_rng([settings.seed, run])
        mixed = [
            choose([*p.a, *p.b], rng.permutation(len(p.a) + len(p.b)))
            for p in prompts[:POWER_PROMPTS]
        ]
        changed = change([texts[len(p.a) :] for texts, p in zip(mixed, prompts)], rng)
        return [
            Prompt(p.id, t[: len(p.a)], c) for p, t, c in zip(prompts, mixed, changed)
        ]

    return share_found(map(simulate, range(runs)), runs, settings)


def share_found(
    checks: Iterable[Sequence[Prompt]], runs: int, settings: Settings
) -> float:
    """Return the share of simulated checks that find a difference at the level of the
    settings.

    Where :data:`POWER_DRAWS` relabelings are too few for the level, the critical value
    of the largest statistic is that of the relabelings of all checks together, which
    are alike, in place of those of each check alone.
    """
    own = settings.alpha * (POWER_DRAWS + 1) >= RESOLUTION
    draws = (
        POWER_DRAWS
        if own
        else max(POWER_DRAWS, draws_needed(settings.alpha, settings.kernels) // runs)
    )
    found = 0
    observed: list[float] = []
    relabeled: list[np.ndarray] = []
    for check in checks:
        outcome = evaluate(check, replace(settings, draws=draws))
        if own:
            found += outcome.p <= settings.alpha
        elif smallest_p(outcome.strata) <= settings.alpha:
            largest = standardise_values(outcome.columns)[0].max(axis=1)
            observed.append(float(largest[0]))
            relabeled.append(largest[1:])
    if relabeled:
        null = np.sort(np.concatenate(relabeled))
        critical = null[len(null) - 1 - int(settings.alpha * len(null))]
        found = int((np.array(observed) > critical).sum())
    return found / runs
