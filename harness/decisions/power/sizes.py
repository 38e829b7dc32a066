"""p-value and power of the metrics of a pilot run at given sizes: measured within the
pilot, predicted beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np

from harness.decisions.power.fit import AXES, MIN_SIZES, Axis, SizeTrials
from harness.decisions.power.model import MIN_EXAMPLES, Extrapolation, Prediction
from harness.decisions.power.rules import RULES, Rule
from harness.decisions.power.trials import (
    PilotTrials,
    TrialOptions,
    pilot,
    plans_with_p_values,
)
from harness.errors import HarnessError, InputError, did_you_mean
from harness.results import Run
from harness.run.metric_plan import MetricPlan
from harness.stats.seeds import derive

MAX_SIZE = {"examples": 1_000_000, "candidates": 10_000, "references": 10_000}
"""Largest number of a requested size, by axis."""
MAX_FACTOR = {"examples": 100, "candidates": 5, "references": 5}
"""Largest number in multiples of the pilot's, by axis: of an estimate,
and for captions of a requested size.
"""


@dataclass(frozen=True, kw_only=True)
class Size(Prediction):
    """Combined p-value and power of a metric with n candidates and m references per
    example.

    Within the pilot ``p`` is the geometric mean over repeats, ``p_low`` and ``p_high``
    are the smallest and the largest of them, and the intervals of power and share are
    NaN where the pilot has too few examples.
    """

    model: str
    metric: str
    n: int
    m: int
    examples: int
    """Number of examples with a p-value."""
    method: str
    extrapolated: bool = False
    """True for a size beyond the pilot: a prediction, not a measurement."""


@dataclass(frozen=True)
class SizeRequest:
    """Sizes that are requested; empty: those of the pilot."""

    candidates: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    examples: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for axis, limit in MAX_SIZE.items():
            for value in getattr(self, axis):
                if not 1 <= value <= limit:
                    raise HarnessError(
                        f"{axis} has {value}; expected 1 to {limit:,}", parameter=axis
                    )

    def pairs(self, trials: PilotTrials) -> list[tuple[int, int]]:
        """Return the sizes (n, m) for the pilot of one model."""
        candidates = self.candidates or range(1, trials.n + 1)
        return [(n, m) for n in candidates for m in self.references or (trials.m,)]


def rule_of(name: str) -> Rule:
    """Return the combination with a name; raise :class:`HarnessError` with the nearest
    name for an unknown one.
    """
    if name not in RULES:
        raise HarnessError(
            f"no combination '{name}'{did_you_mean(name, list(RULES))}; "
            f"there are {', '.join(RULES)}"
        )
    return RULES[name]


@dataclass(frozen=True)
class ModelStudy:
    """Sizes of one model."""

    trials: PilotTrials
    plans: Sequence[MetricPlan]
    sizes: list[Size]

    def sizes_of(self, label: str) -> list[Size]:
        """Return the sizes of one metric."""
        return [size for size in self.sizes if size.metric == label]


def model_studies(
    path: str | Path,
    metrics: Sequence[str],
    request: SizeRequest,
    options: TrialOptions,
    limit: int | None,
) -> list[ModelStudy]:
    """Return the requested sizes of the metrics of a pilot, one study per model;
    ``limit``: number of examples of the pilot that are used.
    """
    run = Run.open(path)
    if run.provenance.kind and not any(system.model for system in run.samples.systems):
        raise InputError(
            "the judged captions name no systems; power needs a run of models, "
            "or judgments with a column of systems",
            str(path),
        )

    models = pilot(run)
    plans = plans_with_p_values(run, metrics)
    studies: list[ModelStudy] = []
    for model, sets in models.items():
        trials = PilotTrials(model, sets[:limit] if limit else sets, options)
        sizes = _requested_sizes(trials, plans, request)
        studies.append(ModelStudy(trials, plans, sizes))
    if not any(study.sizes for study in studies):
        raise HarnessError("no size of the pilot is large enough for its metrics")
    return studies


def _requested_sizes(
    trials: PilotTrials, plans: Sequence[MetricPlan], request: SizeRequest
) -> list[Size]:
    """Return the requested sizes of the metrics of one model."""
    pairs = request.pairs(trials)
    _check_factors(trials, pairs)

    # Sizes beyond the pilot start from its nearest one, and need those of the fit.
    nearest = {(min(n, trials.n), min(m, trials.m)) for n, m in pairs}
    trials.measure(plans, sorted(nearest | {(trials.n, trials.m)}))
    if not all(trials.contains(*size) for size in pairs):
        trials.measure(plans, trials.fit_sizes())
    return [
        size
        for plan in plans
        for size in _sizes_of(trials, plan, pairs, request.examples)
    ]


def _check_factors(trials: PilotTrials, pairs: Sequence[tuple[int, int]]) -> None:
    """Raise :class:`HarnessError` for sizes too far beyond the pilot."""
    for axis, base, values in zip(AXES, (trials.n, trials.m), zip(*pairs)):
        limit = MAX_FACTOR[axis] * base
        if max(values) > limit:
            raise HarnessError(
                f"{axis} has {max(values)}; expected at most {limit}, "
                f"{MAX_FACTOR[axis]} times those of the pilot "
                f"of model '{trials.model}'",
                parameter=axis,
            )


def _sizes_of(
    trials: PilotTrials,
    plan: MetricPlan,
    pairs: Sequence[tuple[int, int]],
    requested: Sequence[int],
) -> Iterator[Size]:
    """Yield the sizes of one metric; those that are too small for it are left out."""
    extrapolation = trials.extrapolation(plan.label)
    for n, m in pairs:
        size = trials.trials(plan.label).get((n, m))
        if size is None and trials.contains(n, m):
            continue
        available = 0 if size is None else _count_defined(size)
        for examples in requested or (available or base_examples(trials, plan),):
            if size is not None and examples <= available:
                yield measured_size(trials, plan, extrapolation, (n, m, examples))
            else:
                yield _predict_size(trials, plan, extrapolation, (n, m, examples))


def _count_defined(size: SizeTrials) -> int:
    """Return the number of examples with a p-value."""
    return int((~np.isnan(size.p)).sum(axis=1).max())


def base_examples(trials: PilotTrials, plan: MetricPlan) -> int:
    """Return the number of examples of the pilot that have a p-value, all of them
    where its own size is not measured.
    """
    base = trials.trials(plan.label).get((trials.n, trials.m))
    return _count_defined(base) if base is not None else len(trials.sets)


def obstacle(
    trials: PilotTrials,
    plan: MetricPlan,
    extrapolation: Extrapolation | None,
    axes: Sequence[Axis],
) -> str | None:
    """Return the reason for which sizes beyond the pilot on the given axes of captions
    cannot be predicted; None without one.
    """
    examples = 0 if extrapolation is None else extrapolation.examples
    if extrapolation is None or examples < MIN_EXAMPLES:
        return (
            f"the pilot has {examples} examples with p-values; "
            f"sizes beyond it need at least {MIN_EXAMPLES}"
        )

    for axis in axes:
        if axis == "candidates" and plan.metric.spec.level == "item":
            return (
                "a metric that scores each candidate alone can lose power with more "
                "candidates, so that their number is not predicted "
                "beyond the pilot; use a pilot with more candidates, "
                "other numbers of examples, or a metric of sets"
            )
        if not extrapolation.can_fit(axis):
            return (
                f"the pilot ({trials.n} candidates, {trials.m} references) "
                f"is too small for other numbers of {axis}: "
                f"they are fitted and checked on at least {MIN_SIZES} sizes with "
                f"p-values and at most half its {axis}"
            )
    return None


def measured_size(
    trials: PilotTrials,
    plan: MetricPlan,
    extrapolation: Extrapolation | None,
    size: tuple[int, int, int],
) -> Size:
    """Return the combined p-value of the pilot cut to (n, m, examples), with power and
    share by resampling its examples.
    """
    n, m, examples = size
    options = trials.options
    trial = trials.trials(plan.label)[n, m]

    # One combined p-value for each random order of the captions.
    combined: list[float] = []
    for repeat, row in enumerate(trial.p):
        rows = np.flatnonzero(~np.isnan(row))
        if examples < len(rows):
            rng = np.random.default_rng(derive(options.seed, "examples", repeat))
            rows = rows[rng.permutation(len(rows))[:examples]]
        combined.append(options.rule.combine(row[rows], trial.floors[rows]))

    # A small pilot has a share, and no intervals.
    power = share = (nan, nan, nan)
    if extrapolation is not None and extrapolation.examples >= MIN_EXAMPLES:
        power = extrapolation.interval(extrapolation.power(n, m, examples))
        share = extrapolation.share_interval(n, m)
    elif extrapolation is not None:
        is_small = np.where(np.isnan(trial.p), np.nan, trial.p <= options.alpha)
        share = (float(np.nanmean(is_small)), nan, nan)
    values = Prediction(
        float(np.exp(np.log(combined).mean())),
        min(combined),
        max(combined),
        *power,
        *share,
    )
    return Size(
        model=trials.model,
        metric=plan.label,
        n=n,
        m=m,
        **vars(values),
        examples=min(examples, _count_defined(trial)),
        method=trials.methods[plan.label, n, m],
    )


def _predict_size(
    trials: PilotTrials,
    plan: MetricPlan,
    extrapolation: Extrapolation | None,
    size: tuple[int, int, int],
) -> Size:
    """Return the prediction of a size (n, m, examples) beyond the pilot; raise
    :class:`HarnessError` with the reason where there is none.
    """
    n, m, examples = size
    axes: list[Axis] = []
    if n > trials.n:
        axes.append("candidates")
    if m > trials.m:
        axes.append("references")

    reason = obstacle(trials, plan, extrapolation, axes)
    if reason is not None or extrapolation is None:
        raise HarnessError(f"{plan.label} of model '{trials.model}': {reason}")
    return Size(
        model=trials.model,
        metric=plan.label,
        n=n,
        m=m,
        **vars(extrapolation.predict(n, m, examples)),
        examples=examples,
        method="fitted in n and m" if axes else "resampled examples",
        extrapolated=True,
    )
