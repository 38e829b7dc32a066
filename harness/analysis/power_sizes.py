"""p-value and power of the metrics of a pilot run at given sizes: measured within the pilot, predicted beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.analysis.power_model import MIN_SIZES, Combination, Extrapolation, SizeTrials, combined_p
from harness.analysis.power_trials import PilotTrials, TrialOptions, pilot, plans_with_p_values
from harness.errors import HarnessError
from harness.run.metric_plan import MetricPlan
from harness.rundir.rundir import RunDir
from harness.stats.seeds import derive

MAX_SIZE = {"examples": 1_000_000, "candidates": 10_000, "references": 10_000}


@dataclass(frozen=True)
class Size:
    """Combined p-value and power of a metric with n candidates and m references per example."""

    model: str
    metric: str
    n: int
    m: int
    p: float
    """Combined p over the examples; geometric mean over repeats, or over simulated runs beyond the pilot."""
    p_low: float
    p_high: float
    """``p_low`` and ``p_high`` are the smallest and the largest combined p-value over repeats; beyond the pilot the limits of 95 %
    of the simulated runs."""
    power: float
    power_low: float
    power_high: float
    """``power_low`` and ``power_high`` are the smallest and the largest power over repeats; beyond the pilot a 95 % interval."""
    examples: int
    """Number of examples with a p-value."""
    method: str
    extrapolated: bool = False
    """True for a size beyond the pilot: a prediction, not a measurement."""


@dataclass(frozen=True)
class Request:
    """Sizes that are requested; empty: those of the pilot."""

    candidates: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    examples: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for axis, limit in MAX_SIZE.items():
            for value in getattr(self, axis):
                if not 1 <= value <= limit:
                    raise HarnessError(f"--{axis} has {value}; expected 1 to {limit:,}", parameter=axis)

    def pairs(self, trials: PilotTrials) -> list[tuple[int, int]]:
        """Return the sizes (n, m) for the pilot of one model."""
        candidates = self.candidates or range(1, trials.n + 1)
        return [(n, m) for n in candidates for m in self.references or (trials.m,)]


def plan_sizes(
    path: str | Path,
    *,
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
) -> list[Size]:
    """Return p-value and power of every metric and model at every size.

    Parameters
    ----------
    path : str or Path
        Run directory of the pilot.
    metrics : sequence of str
        Labels of metrics; empty: all with p-values.
    candidates, references, examples : iterable of int, optional
        Sizes; default: 1 to the pilot's number of candidates, and the pilot's numbers of references and of examples with a
        p-value. Sizes beyond the pilot are predicted and have ``extrapolated=True``.
    repeats : int
        Number of random orders.
    alpha : float
        Significance level of the test of one example.
    seed : int
        Seed of the random orders and of the resamples.
    limit : int, optional
        Number of examples of the pilot that are used, from the first.
    combine : callable
        Combination of the p-values (L,) of a run.
    progress : callable
        Called with 1 after each size of each metric and repeat.

    Raises
    ------
    HarnessError
        The pilot has no metric with p-values, is too small for every size, or has too few sizes to predict others; or a size is
        out of range.
    """
    request = Request(tuple(candidates or ()), tuple(references or ()), tuple(examples or ()))
    options = TrialOptions(repeats, alpha, seed, combine, progress)
    return [size for study in model_studies(path, metrics, request, options, limit) for size in study.sizes]


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
    path: str | Path, metrics: Sequence[str], request: Request, options: TrialOptions, limit: int | None
) -> list[ModelStudy]:
    run = RunDir.open(path)
    models, plans = pilot(run), plans_with_p_values(run, metrics)
    studies: list[ModelStudy] = []
    for model, sets in models.items():
        trials = PilotTrials(model, sets[:limit] if limit else sets, options)
        studies.append(ModelStudy(trials, plans, _requested_sizes(trials, plans, request)))
    if not any(study.sizes for study in studies):
        raise HarnessError("no size of the pilot is large enough for its metrics")
    return studies


def _requested_sizes(trials: PilotTrials, plans: Sequence[MetricPlan], request: Request) -> list[Size]:
    pairs = request.pairs(trials)
    trials.measure(plans, [size for size in pairs if trials.contains(*size)])
    beyond = not all(trials.contains(*size) for size in pairs)
    if beyond:
        trials.measure(plans, trials.fit_sizes())
    out: list[Size] = []
    for plan in plans:
        extrapolation: Extrapolation | None = None
        for n, m in pairs:
            size = trials.trials(plan.label).get((n, m))
            if size is None and trials.contains(n, m):
                continue  # the size is too small for the metric
            available = 0 if size is None else _defined(size)
            for examples in request.examples or (available or base_examples(trials, plan),):
                if size is not None and examples <= available:
                    out.append(measured_size(trials, plan, n, m, examples))
                    continue
                extrapolation = extrapolation or _extrapolation(trials, plan, fit=beyond)
                out.append(_predicted(trials, plan, extrapolation, (n, m, examples)))
    return out


def _defined(size: SizeTrials) -> int:
    """Return the number of examples with a p-value."""
    return int((~np.isnan(size.p)).sum(axis=1).max())


def base_examples(trials: PilotTrials, plan: MetricPlan) -> int:
    base = trials.trials(plan.label).get((trials.n, trials.m))
    return _defined(base) if base is not None else len(trials.sets)


def _extrapolation(trials: PilotTrials, plan: MetricPlan, *, fit: bool) -> Extrapolation:
    """Return the extrapolation of a metric; raise :class:`HarnessError` when the pilot does not allow it."""
    trials.measure([plan], [(trials.n, trials.m)])
    extrapolation = trials.extrapolation(plan.label)
    if extrapolation is None or (fit and not extrapolation.can_fit):
        raise HarnessError(f"{plan.label} of model '{trials.model}': {too_few(trials, plan)}")
    return extrapolation


def too_few(trials: PilotTrials, plan: MetricPlan) -> str:
    return (
        f"the pilot ({trials.n} candidates, {trials.m} references) gives p-values at {len(trials.trials(plan.label))} sizes; "
        f"an estimate of other numbers of candidates and references needs {MIN_SIZES}"
    )


def measured_size(trials: PilotTrials, plan: MetricPlan, n: int, m: int, examples: int) -> Size:
    options = trials.options
    runs: list[np.ndarray] = []
    for repeat, row in enumerate(trials.trials(plan.label)[n, m].p):
        p = row[~np.isnan(row)]
        if examples < len(p):
            p = p[np.random.default_rng(derive(options.seed, "examples", repeat)).permutation(len(p))[:examples]]
        runs.append(p)
    combined = np.array([options.combine(p) for p in runs])
    power = np.array([np.mean(p <= options.alpha) for p in runs])
    return Size(
        trials.model, plan.label, n, m,
        float(np.exp(np.log(combined).mean())), float(combined.min()), float(combined.max()),
        float(np.mean(power)), float(power.min()), float(power.max()),
        len(runs[0]), trials.methods[plan.label, n, m],
    )  # fmt: skip


def _predicted(trials: PilotTrials, plan: MetricPlan, extrapolation: Extrapolation, size: tuple[int, int, int]) -> Size:
    n, m, examples = size
    value = extrapolation.predict(n, m, examples)
    return Size(
        trials.model, plan.label, n, m, value.p, value.p_low, value.p_high,
        value.power, value.power_low, value.power_high, examples,
        "resampled examples" if trials.contains(n, m) else "fitted in n and m", extrapolated=True,
    )  # fmt: skip
