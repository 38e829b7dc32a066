"""Result records and the columns of samples.parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.contracts import CaptionSet, Metric, TokenScores
from harness.run.metric_plan import MetricPlan
from harness.run.plan import ModelPlan
from harness.run.score import Scored, combined, value_and_interval
from harness.rundir.store import to_json
from harness.spec.models import Spec

SCHEMA = 1


def record(
    spec: Spec, model: ModelPlan, decoding: Mapping[str, Any], plan: MetricPlan, scored: Scored, absent: int,
    sizes: Mapping[str, Sequence[int]],
) -> dict[str, Any]:  # fmt: skip
    """One record of results.json for a metric on caption sets. ``absent`` examples had no candidates; ``sizes``: set sizes that occur."""
    defined = scored.defined
    value, ci95 = value_and_interval(plan.metric, scored.stats[defined], spec.bootstrap.samples, spec.seed)
    aggregate = combined(scored.p_values, spec.significance.fdr)
    method = scored.p_method
    made = _base(spec, model, decoding, plan)
    made.update(
        value=value,
        ci95=list(ci95) if ci95 else None,
        p_value=aggregate.get("harmonic_mean"),
        p_method=f"{method}, {spec.significance.aggregate}" if aggregate else None,
        n=int(defined.sum()),
        skipped=int((~defined).sum()) + absent,
        sizes=dict(sizes),
        seconds=round(scored.seconds, 4),
    )
    if defined.any() and hasattr(plan.metric, "details"):
        made["details"] = plan.metric.details(scored.stats[defined])  # type: ignore[attr-defined]
    if aggregate:
        made["p"] = {**aggregate, "floor": scored.p_floor}
    return made


def _base(spec: Spec, model: ModelPlan, decoding: Mapping[str, Any], plan: MetricPlan) -> dict[str, Any]:
    return {
        "model": model.label,
        "model_params": dict(model.params),
        "task": spec.task,
        "decoding": dict(decoding),
        "metric": plan.label,
        "params": dict(plan.params),
        "higher_is_better": plan.metric.spec.higher_is_better,
        "level": plan.metric.spec.level,
        "signature": plan.metric.signature(),
    }


def token_score_records(
    spec: Spec, model: ModelPlan, plan: MetricPlan, scores: Sequence[Sequence[TokenScores]]
) -> list[dict[str, Any]]:
    """One record per column of a metric of level ``model``."""
    import time

    started = time.perf_counter()
    values = plan.metric.evaluate_scores(scores)  # type: ignore[attr-defined]
    intervals: Mapping[str, np.ndarray] = {}
    if spec.bootstrap.samples and hasattr(plan.metric, "resample") and len(scores) > 1:
        rng = np.random.default_rng([spec.seed, len(scores)])
        intervals = plan.metric.resample(scores, min(spec.bootstrap.samples, 200), rng)  # type: ignore[attr-defined]
    seconds = round(time.perf_counter() - started, 4)
    made = []
    for name, value in values.items():
        label = f"{plan.name}({name})"
        draws = intervals.get(name)
        ci95 = None
        if draws is not None and np.isfinite(draws).all():
            ci95 = [float(x) for x in np.quantile(draws, [0.025, 0.975])]
        made.append({
            **_base(spec, model, {}, plan), "metric": label, "params": {"name": name},
            "value": value, "ci95": ci95, "p_value": None, "p_method": None, "n": len(scores), "skipped": 0, "seconds": seconds,
        })  # fmt: skip
    return made


def results_file(
    manifest: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    failed: Mapping[str, str],
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """results.json."""
    made: dict[str, Any] = {
        "schema": SCHEMA,
        "signature": manifest["signature"],
        "digest": manifest["digest"],
        "results": list(results),
    }
    if failed:
        made["failed"] = dict(failed)
    if notes:
        made["notes"] = list(notes)
    return made


class Samples:
    """Columns of samples.parquet: one row per (model, decoding, example), one column per metric and its p-values."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._fixed: dict[str, list[Any]] = {
            "model": [],
            "decoding": [],
            "example": [],
            "candidates": [],
            "references": [],
        }
        self._scores: dict[str, list[float | None]] = {name: [] for name in metrics}
        self._p_values: dict[str, list[float | None]] = {}
        self._rows = 0

    def begin(self, model: str, decoding: Mapping[str, Any], sets: Sequence[CaptionSet]) -> None:
        """Start the rows of one model and decoding; columns not filled by :meth:`add` stay null."""
        self._pad()
        shown = json.dumps(json.loads(to_json(dict(decoding))), sort_keys=True)
        for item in sets:
            values = (model, shown, item.id, _clean(item.candidates), _clean(item.references))
            for column, value in zip(self._fixed.values(), values):
                column.append(value)
        self._rows += len(sets)

    def add(self, label: str, metric: Metric, scored: Scored) -> None:
        """Per-example scores (and p-values) of one metric for the rows begun last."""
        per_example = np.full(len(scored.stats), np.nan)
        defined = scored.defined
        if defined.any():
            per_example[defined] = metric.per_example(scored.stats[defined])
        self._scores[label].extend(_nulls(per_example))
        if scored.p_values is not None:
            column = self._p_values.setdefault(label, [None] * (self._rows - len(per_example)))
            column.extend([None] * (self._rows - len(per_example) - len(column)))
            column.extend(_nulls(scored.p_values))

    def _pad(self) -> None:
        for column in (*self._scores.values(), *self._p_values.values()):
            column.extend([None] * (self._rows - len(column)))

    def columns(self) -> dict[str, list[Any]]:
        """All columns; p-values as ``p:METRIC``. Metrics without any score per example are left out."""
        self._pad()
        scores = {name: column for name, column in self._scores.items() if column}
        return {**self._fixed, **scores, **{f"p:{name}": column for name, column in self._p_values.items()}}


def _nulls(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _clean(texts: Sequence[str]) -> list[str]:
    """Texts as valid UTF-8 (lone surrogates are escaped, which Parquet could not hold)."""
    return [text.encode("utf-8", "backslashreplace").decode("utf-8") for text in texts]
