"""Planning: how many candidates and references a metric needs, from a pilot run (Chan et al. 2022, Figure 3, as a tool).

Every example's candidates and references are put into a random order and cut to n and m; the permutation p-values of all
examples are combined by the harmonic mean, as in a run. Repeats with other orders show the spread. *Power* at a size is the
share of (example, repeat) pairs with p <= alpha: the chance that a single example of this kind is told apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.api import metric_plans
from harness.contracts import CaptionSet, ExactTestable, Testable
from harness.errors import HarnessError, InputError, did_you_mean
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.rundir.store import read_run
from harness.spec.models import SignificanceSpec
from harness.stats.seeds import derive


@dataclass(frozen=True)
class Size:
    """What a metric reaches with n candidates and m references."""

    model: str
    metric: str
    n: int
    m: int
    p: float
    """Harmonic-mean p over the examples; geometric mean over repeats."""
    p_low: float
    p_high: float
    """Smallest and largest over repeats."""
    power: float
    examples: int
    method: str


def pilot(path: str | Path) -> tuple[dict[str, Any], dict[str, list[CaptionSet]]]:
    """Manifest and caption sets by model of a finished run; the largest decoding of each model counts."""
    import pyarrow.parquet as pq

    manifest, _ = read_run(path)
    file = Path(path) / "samples.parquet"
    if not file.is_file():
        raise InputError("has no samples.parquet", str(path))
    rows = pq.read_table(file, columns=["model", "decoding", "example", "candidates", "references"]).to_pylist()
    groups: dict[tuple[str, str], list[CaptionSet]] = {}
    for row in rows:
        item = CaptionSet(row["example"], tuple(row["candidates"]), tuple(row["references"]))
        groups.setdefault((row["model"], row["decoding"]), []).append(item)
    best: dict[str, tuple[tuple[int, int], list[CaptionSet]]] = {}
    for (model, decoding), sets in groups.items():
        size = (max(len(s.candidates) for s in sets), max(len(s.references) for s in sets))
        other = {k: v for k, v in json.loads(decoding).items() if k not in ("candidates", "references")}
        label = model if not other else f"{model} {json.dumps(other, sort_keys=True)}"
        if label not in best or size > best[label][0]:
            best[label] = (size, sets)
    return manifest, {label: sets for label, (_, sets) in best.items()}


def testable_plans(manifest: dict[str, Any], wanted: Sequence[str]) -> list[MetricPlan]:
    """The pilot's metrics that have p-values (or those asked for); raises :class:`HarnessError` naming the nearest."""
    plans = metric_plans(manifest["spec"]["metrics"])
    plans = [plan for plan in plans if isinstance(plan.metric, (Testable, ExactTestable))]
    labels = [plan.label for plan in plans]
    for name in wanted:
        if name not in labels:
            raise HarnessError(
                f"the pilot has no testable metric '{name}'{did_you_mean(name, labels)}; there are {', '.join(labels)}"
            )
    if not plans:
        raise HarnessError("the pilot has no metric with p-values")
    return [plan for plan in plans if not wanted or plan.label in wanted]


def shuffled(sets: Sequence[CaptionSet], seed: int) -> list[CaptionSet]:
    """Every example's candidates and references in a random order of its own."""
    out = []
    for item in sets:
        rng = np.random.default_rng(derive(seed, item.id))
        candidates = tuple(item.candidates[i] for i in rng.permutation(len(item.candidates)))
        references = tuple(item.references[i] for i in rng.permutation(len(item.references)))
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
    """p and power for every metric, model and size up to the pilot's; raises :class:`HarnessError` for a pilot too small."""
    manifest, models = pilot(path)
    plans = testable_plans(manifest, metrics)
    made = []
    for model, all_sets in models.items():
        sets = all_sets[:limit] if limit else all_sets
        most_n = max(len(item.candidates) for item in sets)
        most_m = max(len(item.references) for item in sets)
        sizes_n = [n for n in (candidates or range(1, most_n + 1)) if n <= most_n]
        sizes_m = [m for m in (references or [most_m]) if m <= most_m]
        if not sizes_n or not sizes_m:
            raise HarnessError(f"the pilot's model '{model}' has at most {most_n} candidates and {most_m} references")
        runs = _runs(plans, sets, sizes_n, sizes_m, repeats, seed, progress)
        made += [_summary(model, key, values, alpha) for key, values in runs.items() if values]
    if not made:
        raise HarnessError("no size of the pilot is large enough for its metrics")
    return made


def _runs(
    plans: Sequence[MetricPlan], sets: Sequence[CaptionSet], sizes_n: Sequence[int], sizes_m: Sequence[int],
    repeats: int, seed: int, progress: Callable[[int], None],
) -> dict[tuple[str, int, int], list[tuple[np.ndarray, str]]]:  # fmt: skip
    """(metric, n, m) -> per repeat the p-values and the method."""
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


def needed(sizes: Sequence[Size], *, target_p: float | None = None, power: float | None = None) -> list[dict[str, Any]]:
    """For every model and metric the smallest size that reaches the target; None where the pilot does not reach it."""
    groups: dict[tuple[str, str], list[Size]] = {}
    for size in sizes:
        groups.setdefault((size.model, size.metric), []).append(size)
    rows = []
    for (model, metric), group in groups.items():
        reached = [
            size
            for size in group
            if (target_p is None or size.p <= target_p) and (power is None or size.power >= power)
        ]
        best = min(reached, key=lambda size: (size.n + size.m, size.n), default=None)
        largest = max(group, key=lambda size: (size.n + size.m, size.n))
        rows.append(
            {"model": model, "metric": metric, "needed": asdict(best) if best else None, "largest": asdict(largest)}
        )
    return rows
