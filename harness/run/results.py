"""Result records of scored metrics."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from harness.contracts import Objects, Parameters, ReadsMeta, TokenScores, Values
from harness.files.secrets import redact_values
from harness.run.intervals import estimate, token_intervals
from harness.run.metric_plan import AnyMetricPlan, MetricPlan, TokenMetricPlan
from harness.run.plan import ModelPlan
from harness.run.score import Scored, combined
from harness.rundir.records import ResultRecord
from harness.spec.models import Spec

COMBINED = {"fisher-discrete": "calibrated", "harmonic-mean": "harmonic_mean"}
"""Combination of p-values by the name of ``significance.aggregate`` in a spec: the key of a record's ``p`` that is its ``p_value``."""


def caption_record(
    spec: Spec, model: ModelPlan, decoding: Parameters, plan: MetricPlan, scored: Scored, absent: int,
    sizes: Mapping[str, Sequence[int]],
) -> ResultRecord:  # fmt: skip
    """Return the record of a metric on caption sets.

    Parameters
    ----------
    spec, model, plan
        The run's spec, the model and the metric.
    decoding : mapping
        Decoding fields that differ from the defaults.
    scored : Scored
        Statistics and p-values.
    absent : int
        Number of examples without candidates; they count as skipped.
    sizes : mapping
        Set sizes that occur.
    """
    defined = scored.defined
    stats = scored.stats if defined.all() else scored.stats[defined]  # no copy of millions of rows
    value, interval = estimate(plan.metric, stats, spec.bootstrap.samples, spec.seed)
    aggregate = combined(scored.p_values, scored.p_floors, spec.significance.fdr)
    rows = stats
    if plan.metric.spec.details_of_undefined and not isinstance(scored.stats, Objects):
        rows = scored.stats[~np.isnan(scored.stats).all(axis=1)]
    details = plan.details(rows) if len(rows) else None
    return ResultRecord(
        **_common(spec, model, decoding, plan),
        metric=plan.label,
        params=cast("Parameters", redact_values(dict(plan.params))),
        value=value,
        ci95=interval.ends,
        interval_note=interval.note or None,
        p_value=aggregate.get(COMBINED[spec.significance.aggregate]),
        p_method=f"{scored.p_method}, {spec.significance.aggregate}" if aggregate else None,
        n=int(defined.sum()),
        skipped=int((~defined).sum()) + absent,
        sizes=dict(sizes),
        seconds=round(scored.seconds, 4),
        details=details,
        p={**aggregate, "floor": scored.p_floor} if aggregate else None,
        p_note=_p_note(spec, scored, bool(aggregate)),
    )


def _p_note(spec: Spec, scored: Scored, tested: bool) -> str | None:
    """Return the reason why a requested p-value is absent; None otherwise."""
    if tested or spec.significance.method == "none":
        return None
    return scored.p_note or "is defined for no example"


def _common(spec: Spec, model: ModelPlan, decoding: Parameters, plan: AnyMetricPlan) -> Values:
    return {
        "model": model.label,
        "model_params": redact_values(dict(model.params)),
        "task": spec.task,
        "decoding": dict(decoding),
        "higher_is_better": plan.metric.spec.higher_is_better,
        "level": plan.metric.spec.level,
        "signature": plan.metric.signature(),
    }


def token_score_records(
    spec: Spec, model: ModelPlan, plan: TokenMetricPlan, scores: Sequence[Sequence[TokenScores]]
) -> list[ResultRecord]:
    """Return one record per column of a metric of level ``model``."""
    started = time.perf_counter()
    values = plan.metric.evaluate_scores(scores)
    metric: object = plan.metric
    sizes: Mapping[str, int] = metric.column_sizes() if isinstance(metric, ReadsMeta) else {}
    intervals = token_intervals(plan.metric, scores, values, spec.bootstrap.samples, spec.seed)
    seconds = round(time.perf_counter() - started, 4)
    return [
        ResultRecord(
            **_common(spec, model, {}, plan),
            metric=f"{plan.name}({name})",
            params={"name": name},
            value=value,
            ci95=intervals[name].ends,
            interval_note=intervals[name].note or None,
            n=sizes.get(name, len(scores)),
            seconds=seconds,
            p_note=None if spec.significance.method == "none" else "judges token scores, not captions",
        )
        for name, value in values.items()
    ]
