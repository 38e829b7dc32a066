"""Estimation of the numbers of candidates, references and examples that a metric needs, from a pilot run.

Within the pilot (Chan et al. 2022, Figure 3), the candidates and references of every example are put into a random order and cut
to n and m, and the examples are cut likewise; the permutation p-values of the examples are combined as in a run. Repeats with
other orders show the spread. *Power* at a size is the share of (example, repeat) pairs with p <= alpha: the probability that the
test of a single example is significant.

Sizes beyond the pilot are predicted by :mod:`harness.analysis.power_model` and marked as extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.analysis.power_model import (
    SAMPLES,
    Combination,
    Extrapolation,
    combined_p,
    first_reached,
    smallest_p,
    steps,
)
from harness.analysis.power_sizes import ModelStudy, Request, Size, base_examples, measured_size, model_studies, too_few
from harness.analysis.power_trials import PilotTrials, TrialOptions
from harness.errors import HarnessError
from harness.run.metric_plan import MetricPlan

MAX_FACTOR = {"examples": 100, "candidates": 20, "references": 20}
"""Largest number of an estimate, in multiples of the pilot's, by axis."""
MAX_EXAMPLES = 100_000
"""Largest number of examples of an estimate (at least twice the pilot's)."""


@dataclass(frozen=True)
class Estimate:
    """Smallest number of examples, candidates or references beyond the pilot that reaches a target."""

    axis: str
    """``examples``, ``candidates`` or ``references``."""
    value: int | None
    """Median over resamples of the pilot; None when it is beyond ``limit``."""
    low: int | None
    high: int | None
    """``low`` and ``high`` are a 95 % interval; None for a bound beyond ``limit``."""
    limit: int
    """Largest number that is considered."""
    n: int
    m: int
    examples: int
    """``n``, ``m`` and ``examples`` are the numbers of the pilot, of which the axis is varied."""
    extrapolated: bool = True


@dataclass(frozen=True)
class Needed:
    """Smallest size of a pilot that reaches a target, for one model and metric."""

    model: str
    metric: str
    needed: Size | None
    """None where the pilot does not reach the target."""
    largest: Size
    estimates: tuple[Estimate, ...] = ()
    """Sizes beyond the pilot, one per axis; empty where the pilot reaches the target."""
    notes: tuple[str, ...] = ()
    """Limits of the design, and reasons for missing estimates."""


@dataclass(frozen=True)
class PowerStudy:
    """Sizes of a pilot with their p-values and power, and the sizes needed to reach a target."""

    sizes: tuple[Size, ...]
    needed: tuple[Needed, ...]
    target_p: float | None
    power: float | None


@dataclass(frozen=True)
class Target:
    """Goal of a study; a None component is reached by every size."""

    p: float | None
    """Combined p-value."""
    power: float | None
    """Share of examples with p <= alpha."""

    def reached(self, size: Size) -> bool:
        """Return True when a size reaches the target."""
        return (self.p is None or size.p <= self.p) and (self.power is None or size.power >= self.power)


def study_power(
    path: str | Path,
    *,
    target_p: float | None = None,
    power: float | None = None,
    metrics: Sequence[str] = (),
    candidates: Iterable[int] | None = None,
    references: Iterable[int] | None = None,
    examples: Iterable[int] | None = None,
    repeats: int = 3,
    alpha: float = 0.05,
    seed: int = 0,
    limit: int | None = None,
    combine: Combination = combined_p,
    progress: Callable[[int], None] = lambda steps: None,
) -> PowerStudy:
    """Return the sizes of a pilot run and those needed to reach a target; other parameters as for :func:`plan_sizes`.

    Parameters
    ----------
    target_p : float, optional
        Combined p-value to reach (default 0.05 when ``power`` is not given).
    power : float, optional
        Share of examples with p <= alpha to reach.

    Raises
    ------
    HarnessError
        As :func:`plan_sizes`, or a parameter is out of range.
    """
    target = Target(target_p if target_p is not None or power is not None else 0.05, power)
    for name, value in (("target_p", target.p), ("power", power), ("alpha", alpha)):
        if value is not None and not 0 < value <= 1:
            option = f"--{name.replace('_', '-')}"
            raise HarnessError(f"{option} is {value:g}; expected more than 0 and at most 1", parameter=name)
    for name, count in (("repeats", repeats), ("limit", limit)):
        if count is not None and count < 1:
            raise HarnessError(f"--{name} is {count}; expected at least 1", parameter=name)
    request = Request(tuple(candidates or ()), tuple(references or ()), tuple(examples or ()))
    options = TrialOptions(repeats, alpha, seed, combine, progress)
    studies = model_studies(path, metrics, request, options, limit)
    sizes = tuple(size for study in studies for size in study.sizes)
    rows = [row for study in studies for row in _with_estimates(study, target)]
    return PowerStudy(sizes, tuple(rows), target.p, power)


def needed(sizes: Sequence[Size], *, target_p: float | None = None, power: float | None = None) -> list[Needed]:
    """Return for every model and metric the smallest measured size that reaches the target; extrapolated sizes do not count."""
    target = Target(target_p, power)
    groups: dict[tuple[str, str], list[Size]] = {}
    for size in sizes:
        if not size.extrapolated:
            groups.setdefault((size.model, size.metric), []).append(size)

    def order(size: Size) -> tuple[int, int, int]:
        return size.n + size.m, size.n, size.examples

    return [
        Needed(*names, min(filter(target.reached, group), key=order, default=None), max(group, key=order))
        for names, group in groups.items()
    ]


def _with_estimates(study: ModelStudy, target: Target) -> list[Needed]:
    """Return the sizes needed by the metrics of one model, with estimates where the pilot does not reach the target."""
    trials = study.trials
    base = (trials.n, trials.m)
    measured = needed(study.sizes, target_p=target.p, power=target.power)
    reached = {row.metric: row for row in measured if row.needed is not None}
    open_plans = [plan for plan in study.plans if plan.label not in reached]
    trials.measure(open_plans, [base])
    rows: list[Needed] = []
    for plan in study.plans:
        if plan.label in reached:
            rows.append(reached[plan.label])
        elif base in trials.trials(plan.label):
            whole = measured_size(trials, plan, *base, base_examples(trials, plan))
            rows += needed([*study.sizes_of(plan.label), whole], target_p=target.p, power=target.power)
    missing = {row.metric for row in rows if row.needed is None}
    trials.measure([plan for plan in open_plans if plan.label in missing], trials.fit_sizes())
    by_label = {plan.label: plan for plan in study.plans}
    return [_estimated(trials, by_label[row.metric], row, target) if row.metric in missing else row for row in rows]


def _estimated(trials: PilotTrials, plan: MetricPlan, row: Needed, target: Target) -> Needed:
    extrapolation = trials.extrapolation(plan.label)
    assert extrapolation is not None  # the row holds the size of the pilot
    notes = _floor_notes(trials, target)
    axes = ["examples"] if target.power is None else []
    if extrapolation.can_fit:
        axes += ["candidates", "references"]
    else:
        notes.append(too_few(trials, plan))
    estimates = tuple(estimate(extrapolation, axis, target) for axis in axes)
    return replace(row, estimates=estimates, notes=tuple(notes))


def estimate(extrapolation: Extrapolation, axis: str, target: Target) -> Estimate:
    """Return the smallest number on one axis with which simulated runs reach the target."""
    n, m = extrapolation.base
    examples = extrapolation.examples
    start = {"examples": examples, "candidates": n, "references": m}[axis]
    limit = start * MAX_FACTOR[axis]
    if axis == "examples":
        limit = min(limit, max(MAX_EXAMPLES, 2 * start))
    values = steps(1, limit) if axis == "examples" else steps(start, limit, 1.2)

    def reached(sample: int, value: int) -> bool:
        size = (value if axis == "candidates" else n, value if axis == "references" else m)
        count = value if axis == "examples" else examples
        return extrapolation.reaches(sample, (*size, count), target.p, target.power)

    smallest = np.array([
        first_reached(values, lambda value, sample=sample: reached(sample, value), monotone=axis == "examples")
        for sample in range(SAMPLES)
    ])  # fmt: skip
    low, high = np.quantile(smallest, 0.025, method="lower"), np.quantile(smallest, 0.975, method="higher")
    # The pilot itself does not reach the target.
    value = max(float(np.quantile(smallest, 0.5, method="higher")), start + 1.0)
    high = max(float(high), value)
    return Estimate(axis, _finite(value), _finite(float(low)), _finite(high), limit, n, m, examples)


def _finite(value: float) -> int | None:
    return int(value) if np.isfinite(value) else None


def _floor_notes(trials: PilotTrials, target: Target) -> list[str]:
    """Return the reasons for which the number of texts forbids the target for a single example."""
    n, m, alpha = trials.n, trials.m, trials.options.alpha
    level = alpha if target.power is not None else target.p
    floor = smallest_p(n, m)
    if level is None or floor <= level:
        return []
    text = f"no single example can have p <= {level:g} with {n} candidates and {m} references: the smallest p is {floor:.3g}"
    enough = next((k for k in range(n + 1, 20 * n + 1) if smallest_p(k, m) <= level), None)
    notes = [f"{text} ({enough} candidates allow it)" if enough else text]
    many = np.full(len(trials.sets) * MAX_FACTOR["examples"], floor)
    if target.p is not None and trials.options.combine(many) > target.p:
        notes.append("the combined p cannot be smaller than that with any number of examples")
    return notes
