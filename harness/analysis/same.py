"""Test of two or more sources of answers: do they write the same distribution?

The labels of the answers are permuted within each prompt (:mod:`harness.stats.stratified_test`). The p-value is that of several string
kernels within prompts and of shifts across prompts together; its cost is that of one set of relabelings.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.analysis.answer_kernels import KERNELS, REFUSAL, Answers
from harness.analysis.metric_kernels import MetricKernels
from harness.errors import InputError, counted
from harness.stats import jackknife
from harness.stats.multiplicity import holm
from harness.stats.stratified_test import Relabelings, Stratum, Sums, adaptive_p, rank_shares, relabel_sums, strata_of, westfall_young

DRAWS = 1000
"""Number of random relabelings."""
MOST_SAMPLES = 500
"""Number of answers of a source and prompt that are compared; random ones of more, so that memory is bounded."""
POWER_RUNS, POWER_PROMPTS = 100, 100
ALIKE = 0.995
"""Smallest p-value of all kernels from which the sources are taken as dependent."""
FOLDS = 5
"""Parts of the prompts that are held out in turn, for the accuracy."""


@dataclass(frozen=True)
class Source:
    """Answers of a source."""

    label: str
    answers: Mapping[str, Sequence[str]]
    """Answers by the id of the prompt."""
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of the prompts that are known, by id."""


@dataclass(frozen=True)
class Settings:
    """Settings of a comparison of sources."""

    kernels: Sequence[str] = KERNELS
    """String kernels, and metrics (:mod:`harness.analysis.metric_kernels`); the effect is that of the first one."""
    draws: int = DRAWS
    seed: int = 0
    alpha: float = 0.05
    margin: float | None = None
    """Largest unbiased MMD^2 that counts as equivalent."""
    power: bool = True
    """Simulate the power against one answer in ten replaced, where no difference is shown."""


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
    """A property of answers, with its mean in both sources and its p-value, adjusted by the largest one over all properties."""

    name: str
    a: float
    b: float
    p: float


@dataclass(frozen=True)
class Effect:
    """A number with its 95 % interval over prompts."""

    value: float
    interval: tuple[float, float] | None = None
    upper: float | None = None
    """Upper bound at 95 %, one-sided."""


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
    """Smallest p-value that the numbers of answers allow."""
    kernels: Mapping[str, float]
    """P-value of each kernel and of the shifts alone, not adjusted."""
    effect: Effect
    """Mean over prompts of the unbiased MMD^2 of the first kernel, or of a metric's excess over its mean under relabeling."""
    accuracy: Effect
    """Share of pairs of answers of held-out prompts whose sources are told apart; .5: none."""
    power: float | None
    """Power against one answer in ten replaced; None where it was not simulated."""
    features: Sequence[Feature]
    prompts: Sequence[Prompt]
    """Prompts in the order of their p-values."""
    notes: Sequence[str] = field(default_factory=list[str])


def common_prompts(a: Source, b: Source, seed: int = 0) -> tuple[list[Prompt], list[str]]:
    """Return the prompts that both sources answer, at most :data:`MOST_SAMPLES` answers of each, and remarks on what is left out."""
    names = [name for name, texts in a.answers.items() if texts and b.answers.get(name)]
    if not names:
        raise InputError(f"{a.label} and {b.label} have no prompt in common: {counted(len(a.answers), 'id')} and {len(b.answers):,}")
    for name in names:
        if name in a.prompts and name in b.prompts and a.prompts[name] != b.prompts[name]:
            raise InputError(f"the id '{name}' has different prompts: {a.prompts[name]!r:.60} and {b.prompts[name]!r:.60}", b.label)
    notes: list[str] = []
    for source in (a, b):
        if missing := len(source.answers) - len(names):
            notes.append(f"{source.label}: {counted(missing, 'prompt', 'is/are')} left out, without answers of the other source")
        texts = [text for name in names for text in source.answers[name]]
        for kind, number in (("empty answer", sum(not t.strip() for t in texts)), ("refusal", sum(bool(REFUSAL.search(t)) for t in texts))):
            if number:
                notes.append(f"{source.label}: {counted(number, kind, 'is/are')} kept")
        large = sum(len(source.answers[name]) > MOST_SAMPLES for name in names)
        if large:
            notes.append(
                f"{source.label}: {counted(large, 'prompt', 'has/have')} more than {MOST_SAMPLES} answers, of which as many are drawn"
            )
    prompts = [Prompt(name, _draw_answers(a.answers[name], seed), _draw_answers(b.answers[name], seed + 1)) for name in names]
    if all(len(set(texts)) == 1 for prompt in prompts for texts in (prompt.a, prompt.b)):
        unequal = sum(prompt.a[0] != prompt.b[0] for prompt in prompts)
        notes.append(f"each source repeats one answer per prompt, as at temperature 0: they differ in {unequal} of {len(prompts)} prompts")
    if all(len(prompt.a) == len(prompt.b) == 1 for prompt in prompts):
        notes.append("one answer of each source per prompt: relabeling them leaves every statistic within prompts as it is")
    return prompts, notes


def _draw_answers(texts: Sequence[str], seed: int) -> Sequence[str]:
    if len(texts) <= MOST_SAMPLES:
        return texts
    return choose(texts, np.random.default_rng(seed).permutation(len(texts))[:MOST_SAMPLES])


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
    sums = relabel_sums(relabelings, lambda block: answers.kernels(strings, block.rows), features, scores)
    size = np.abs(sums.shifts)
    length = size[:, [names.index(name) for name in names if name == "length in words"]].sum(axis=1)
    shifts = {"largest shift": size.max(axis=1, initial=0.0), "all shifts": (size**2).sum(axis=1)}
    if strings:
        shifts["similarity"] = size[:, len(names) :].max(axis=1)
    columns = np.column_stack([sums.within, *shifts.values(), length])
    return Evaluation(strata, relabelings, sums, names, features, columns, [*strings, *scored, *shifts, "length"])


def compare_sources(a: Source, b: Source, settings: Settings = Settings()) -> SourceComparison:
    """Return the test of two sources.

    Raises
    ------
    InputError
        When no prompt has answers of both sources.
    """
    prompts, notes = common_prompts(a, b, settings.seed)
    outcome = evaluate(prompts, settings)
    sums, p = outcome.sums, outcome.p
    if rank_shares(outcome.columns[:, : len(settings.kernels)])[0].min() >= ALIKE:
        notes.append("answers are more alike between the sources than within them: one seed or one cache for both makes the test invalid")
    effect = _over_prompts(sums.effects[:, outcome.tested.index(settings.kernels[0])])
    power = power_against(prompts, replace_answers(0.1), settings) if settings.power and p > settings.alpha else None
    adjusted = westfall_young(sums.shifts[:, : len(outcome.names)])
    labels = np.concatenate([[True] * len(prompt.a) + [False] * len(prompt.b) for prompt in prompts])
    means = outcome.features[labels].mean(axis=0), outcome.features[~labels].mean(axis=0)
    # Equal shifts differ in their last bits by processor: rounded, they keep the order of the columns.
    order: list[int] = np.lexsort((-np.abs(sums.shifts[0, : len(adjusted)]).round(9), adjusted)).tolist()
    tested = [replace(prompt, p=float(q)) for prompt, q in zip(prompts, sums.prompt_p)]
    return SourceComparison(
        (a.label, b.label), p, _verdict(p, effect, settings), outcome.relabelings.exact, outcome.relabelings.number,
        outcome.relabelings.floor, dict(zip(outcome.tested, rank_shares(outcome.columns)[0].tolist())), effect, _accuracy(outcome), power,
        [Feature(outcome.names[k], float(means[0][k]), float(means[1][k]), float(adjusted[k])) for k in order],
        sorted(tested, key=lambda prompt: prompt.p), notes,
    )  # fmt: skip


def compare_all(sources: Sequence[Source], settings: Settings = Settings()) -> list[SourceComparison]:
    """Return the tests of all pairs of sources, their p-values adjusted by Holm."""
    results = [compare_sources(a, b, settings) for a, b in itertools.combinations(sources, 2)]
    adjusted = holm([result.p for result in results])
    return [replace(r, p=float(p), verdict=_verdict(float(p), r.effect, settings)) for r, p in zip(results, adjusted)]


def _verdict(p: float, effect: Effect, settings: Settings) -> str:
    if p <= settings.alpha:
        return "different"
    within = settings.margin is not None and effect.upper is not None and effect.upper < settings.margin
    return "equivalent within margin" if within else "not shown"


def _over_prompts(values: np.ndarray) -> Effect:
    """Return the mean over prompts with its jackknife interval; NaN does not count."""
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return Effect(float(values.mean()) if len(values) else 0.0)
    value = float(values.mean())
    without = (values.sum() - values) / (len(values) - 1)
    two_sided = jackknife.interval(value, without, 0.9)
    return Effect(value, jackknife.interval(value, without), two_sided[1] if two_sided else None)


def _accuracy(outcome: Evaluation) -> Effect:
    """Return the share of pairs of answers, one of each source, that shifts of the other prompts put in the right order."""
    shares: list[np.ndarray] = []
    folds = [stratum.prompts % FOLDS for stratum in outcome.strata]
    centred = [outcome.features[s.rows] - outcome.features[s.rows].mean(axis=1, keepdims=True) for s in outcome.strata]
    for fold in range(FOLDS):
        trained = [(c[g != fold], s.n) for c, g, s in zip(centred, folds, outcome.strata)]
        difference = sum((c[:, :n].sum(axis=(0, 1)) for c, n in trained), np.zeros(outcome.features.shape[1]))
        spread = sum(((c**2).sum(axis=(0, 1)) for c, _ in trained), np.full(outcome.features.shape[1], 1e-12))
        for c, g, s in zip(centred, folds, outcome.strata):
            score = c[g == fold] @ (difference / spread)
            gaps = score[:, : s.n, None] - score[:, None, s.n :]
            shares.append((0.5 + 0.5 * np.sign(np.where(np.abs(gaps) < 1e-12, 0.0, gaps))).mean(axis=(1, 2)))
    return _over_prompts(np.concatenate(shares))


# --------------------------------------------------------------------------- power
Alternative = Callable[[Sequence[Sequence[str]], np.random.Generator], list[list[str]]]
"""Answers of all prompts -> answers of a changed source."""


def replace_answers(share: float) -> Alternative:
    """Return the alternative of answers that are replaced by those of another prompt."""

    def change(answers: Sequence[Sequence[str]], rng: np.random.Generator) -> list[list[str]]:
        pool = [text for texts in answers for text in texts]
        return [[pool[rng.integers(len(pool))] if rng.random() < share else text for text in texts] for texts in answers]

    return change


def power_against(prompts: Sequence[Prompt], change: Alternative, settings: Settings, runs: int = POWER_RUNS) -> float:
    """Return the share of simulated checks that find a changed source.

    Each check divides the answers of a prompt at random into two sources of the same sizes and changes the second one. Beyond
    :data:`POWER_PROMPTS` prompts the first ones are used: the power of all is larger.
    """
    settings = replace(settings, draws=199)
    rejections = 0
    for run in range(runs):
        rng = np.random.default_rng([settings.seed, run])
        mixed = [choose([*p.a, *p.b], rng.permutation(len(p.a) + len(p.b))) for p in prompts[:POWER_PROMPTS]]
        changed = change([texts[len(p.a) :] for texts, p in zip(mixed, prompts)], rng)
        rejections += evaluate([Prompt(p.id, t[: len(p.a)], c) for p, t, c in zip(prompts, mixed, changed)], settings).p <= settings.alpha
    return rejections / runs
