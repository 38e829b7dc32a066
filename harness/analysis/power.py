"""Estimation of the numbers of candidates and references that a metric needs, from a pilot run (Chan et al. 2022, Figure 3).

The candidates and references of every example are put into a random order and cut to n and m; the permutation p-values of all
examples are combined by the harmonic mean, as in a run. Repeats with other orders show the spread. *Power* at a size is the share
of (example, repeat) pairs with p <= alpha: the probability that the test of a single example is significant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import CaptionSet
from harness.errors import HarnessError, did_you_mean
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans
from harness.rundir.rundir import RunDir
from harness.spec.models import SignificanceSpec
from harness.stats.seeds import derive
from harness.stats.significance import has_generic_null, untestable_reason


@dataclass(frozen=True)
class Size:
    """Combined p-value and power of a metric with n candidates and m references."""

    model: str
    metric: str
    n: int
    m: int
    p: float
    """Harmonic-mean p over the examples; geometric mean over repeats."""
    p_low: float
    p_high: float
    """``p_low`` and ``p_high`` are the smallest and the largest combined p-value over repeats."""
    power: float
    examples: int
    method: str


def pilot(run: RunDir) -> dict[str, list[CaptionSet]]:
    """Return caption sets by model of a finished run; for each model those of the decoding with the largest sets."""
    best: dict[str, tuple[tuple[int, int], list[CaptionSet]]] = {}
    for system in run.require_samples("there are no captions to subsample").systems:
        sets = system.caption_sets()
        size = (max(len(s.candidates) for s in sets), max(len(s.references) for s in sets))
        other = {k: v for k, v in system.decoding.items() if k not in ("candidates", "references")}
        label = system.model if not other else f"{system.model} {json.dumps(other, sort_keys=True)}"
        if label not in best or size > best[label][0]:
            best[label] = (size, sets)
    return {label: sets for label, (_, sets) in best.items()}


def testable_plans(run: RunDir, labels: Sequence[str]) -> list[MetricPlan]:
    """Return the pilot's metrics that have p-values, or those with the given labels.

    Metrics that score relabeled texts again are slow; they are included only by their labels.

    Raises :class:`HarnessError` with the nearest label for one that the pilot does not have.
    """
    plans = caption_plans(metric_plans(run.provenance.spec["metrics"]))
    plans = [plan for plan in plans if not untestable_reason(plan.metric)]
    names = [plan.label for plan in plans]
    for label in labels:
        if label not in names:
            raise HarnessError(
                f"the pilot has no testable metric '{label}'{did_you_mean(label, names)}; there are {', '.join(names)}"
            )
    if not plans:
        raise HarnessError("the pilot has no metric with p-values")
    if labels:
        return [plan for plan in plans if plan.label in labels]
    fast = [plan for plan in plans if not has_generic_null(plan.metric)]
    if not fast:
        raise HarnessError(f"the pilot's metrics with p-values are slow to test; name one: {', '.join(names)}")
    return fast


def shuffled(sets: Sequence[CaptionSet], seed: int) -> list[CaptionSet]:
    """Return the sets with the candidates and references of each example in a random order."""
    out: list[CaptionSet] = []
    for item in sets:
        rng = np.random.default_rng(derive(seed, item.id))
        candidates = tuple(item.candidates[int(i)] for i in rng.permutation(len(item.candidates)))
        references = tuple(item.references[int(i)] for i in rng.permutation(len(item.references)))
        out.append(replace(item, candidates=candidates, references=references))
    return out


def plan_sizes(
    path: str | Path,
    *,
    metrics: Sequence[str] = (),
    candidates: Iterable[int] | None = None,
    references: Iterable[int] | None = None,
    repeats: int = 3,
    alpha: float = 0.05,
    seed: int = 0,
    limit: int | None = None,
    progress: Callable[[int], None] = lambda steps: None,
) -> list[Size]:
    """Return p-value and power of every metric and model at every size.

    Parameters
    ----------
    path : str or Path
        Run directory of the pilot.
    metrics : sequence of str
        Labels of metrics; empty: all with p-values.
    candidates, references : iterable of int, optional
        Sizes, up to those of the pilot; default: 1 to the pilot's number of candidates, and the pilot's number of references.
    repeats : int
        Number of random orders.
    alpha : float
        Significance level of the test of one example.
    seed : int
        Seed of the random orders.
    limit : int, optional
        Number of examples that are used, from the first.
    progress : callable
        Called with 1 after each size of each metric and repeat.

    Raises
    ------
    HarnessError
        The pilot has no metric with p-values, or is too small for every size.
    """
    run = RunDir.open(path)
    models, plans = pilot(run), testable_plans(run, metrics)
    out: list[Size] = []
    for model, all_sets in models.items():
        sets = all_sets[:limit] if limit else all_sets
        most_n = max(len(item.candidates) for item in sets)
        most_m = max(len(item.references) for item in sets)
        sizes_n = [n for n in (candidates or range(1, most_n + 1)) if n <= most_n]
        sizes_m = [m for m in (references or [most_m]) if m <= most_m]
        if not sizes_n or not sizes_m:
            raise HarnessError(f"the pilot's model '{model}' has at most {most_n} candidates and {most_m} references")
        runs = _runs(plans, sets, sizes_n, sizes_m, repeats, seed, progress)
        out += [_summary(model, key, values, alpha) for key, values in runs.items() if values]
    if not out:
        raise HarnessError("no size of the pilot is large enough for its metrics")
    return out


def _runs(
    plans: Sequence[MetricPlan], sets: Sequence[CaptionSet], sizes_n: Sequence[int], sizes_m: Sequence[int],
    repeats: int, seed: int, progress: Callable[[int], None],
) -> dict[tuple[str, int, int], list[tuple[np.ndarray, str]]]:  # fmt: skip
    """Return (metric, n, m) -> p-values (B,) and method per repeat."""
    out: dict[tuple[str, int, int], list[tuple[np.ndarray, str]]] = {}
    significance = SignificanceSpec(method="exact")
    for repeat in range(repeats):
        ordered = shuffled(sets, derive(seed, "order", repeat))
        features = FeatureCache([item.references for item in ordered])
        whole = scoring.batches(ordered, features)
        for plan in plans:
            for n in sizes_n:
                for m in sizes_m:
                    parts = scoring.nested(whole, features, n, m)
                    scored = scoring.score(plan.metric, parts, features, significance, seed)
                    p = scored.p_values if scored.p_values is not None else np.empty(0)
                    p = p[~np.isnan(p)]
                    if len(p):
                        out.setdefault((plan.label, n, m), []).append((p, scored.p_method))
                    progress(1)
    return out


def _summary(model: str, key: tuple[str, int, int], runs: Sequence[tuple[np.ndarray, str]], alpha: float) -> Size:
    from harness.stats.combine import harmonic_mean_p

    combined = np.array([harmonic_mean_p(p) for p, _ in runs])
    power = float(np.mean([np.mean(p <= alpha) for p, _ in runs]))
    method = " + ".join(sorted({method for _, method in runs}))
    p = float(np.exp(np.log(combined).mean()))
    return Size(model, *key, p, float(combined.min()), float(combined.max()), power, len(runs[0][0]), method)


@dataclass(frozen=True)
class PowerStudy:
    """Sizes of a pilot with their p-values and power, and the sizes needed to reach a target."""

    sizes: tuple[Size, ...]
    needed: tuple[Needed, ...]
    target_p: float | None
    power: float | None


def study_power(
    path: str | Path, *, target_p: float | None = None, power: float | None = None, **options: Any
) -> PowerStudy:
    """Return the sizes of a pilot run and those needed; ``options`` are those of :func:`plan_sizes`."""
    target = target_p if target_p is not None or power is not None else 0.05
    for name, value in (("target_p", target), ("power", power), ("alpha", options.get("alpha"))):
        if value is not None and not 0 < value <= 1:
            option = f"--{name.replace('_', '-')}"
            raise HarnessError(f"{option} is {value:g}; expected more than 0 and at most 1", parameter=name)
    for name in ("repeats", "limit"):
        value = options.get(name)
        if value is not None and value < 1:
            raise HarnessError(f"--{name} is {value}; expected at least 1", parameter=name)
    sizes = plan_sizes(path, **options)
    return PowerStudy(tuple(sizes), tuple(needed(sizes, target_p=target, power=power)), target, power)


@dataclass(frozen=True)
class Needed:
    """Smallest size of a pilot that reaches a target, for one model and metric."""

    model: str
    metric: str
    needed: Size | None
    """None where the pilot does not reach the target."""
    largest: Size


def needed(sizes: Sequence[Size], *, target_p: float | None = None, power: float | None = None) -> list[Needed]:
    """Return for every model and metric the smallest size that reaches the target."""
    groups: dict[tuple[str, str], list[Size]] = {}
    for size in sizes:
        groups.setdefault((size.model, size.metric), []).append(size)
    rows: list[Needed] = []
    for (model, metric), group in groups.items():
        reached = [
            size
            for size in group
            if (target_p is None or size.p <= target_p) and (power is None or size.power >= power)
        ]
        best = min(reached, key=lambda size: (size.n + size.m, size.n), default=None)
        rows.append(Needed(model, metric, best, max(group, key=lambda size: (size.n + size.m, size.n))))
    return rows
