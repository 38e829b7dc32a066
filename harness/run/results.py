"""Result records and samples of scored metrics."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from harness.contracts import MetricSpec, Objects, Parameters, ReadsMeta, TokenScores, Values
from harness.files.secrets import redact_values
from harness.run.execution import Execution
from harness.run.intervals import estimate, token_intervals
from harness.run.metric_plan import AnyMetricPlan, MetricPlan, TokenMetricPlan
from harness.run.progress import bar
from harness.run.score import Scored, combine_p_values, is_tested
from harness.run.scoring_pass import ScoringPass
from harness.run.systems import PlannedSystem
from harness.run.task_plan import ModelPlan, Plan
from harness.rundir.format import SAMPLES
from harness.rundir.records import ResultRecord, sizes_of_level
from harness.rundir.sample_file import SampleWriter
from harness.rundir.samples import SampleTable, cluster_of
from harness.spec.models import Spec

COMBINED = {"fisher-discrete": "calibrated", "harmonic-mean": "harmonic_mean"}
"""Combination of p-values by the name of ``significance.aggregate`` in a spec: the key of a record's ``p`` that is its ``p_value``."""

MAX_LOGGED_IDS = 100
"""Maximum number of skipped-example ids written to the log; samples.parquet has all of them as null scores."""


def collect_results(execution: Execution, plan: Plan, scoring: ScoringPass) -> SampleTable | None:
    """Add a record of every system and metric to the execution, and write the samples; those of a run in memory are returned."""
    tested = [p.label for p in scoring.metrics if is_tested(p.metric, plan.spec.significance)]
    path = execution.rundir.path / SAMPLES if execution.rundir is not None else None
    columns = [item.label for item in scoring.metrics]
    models = {model.label: model for model in plan.models}
    has_meta = any(system.store.has_meta for system in scoring.systems)
    count = len(scoring.systems) * len(columns)
    with (
        bar(execution.stage("results"), count, show=execution.show, unit="numbers") as advance,
        SampleWriter(path, columns, tested, has_meta=has_meta) as writer,
    ):
        for index, system in enumerate(scoring.systems):
            clusters = _clusters(plan.spec.cluster, system)
            scores: dict[str, np.ndarray] = {}
            p_values: dict[str, np.ndarray] = {}
            for metric, item in enumerate(scoring.metrics):
                scored, name = scoring.statistics(index, metric)
                scores[item.label] = scored.per_example(item.metric)
                if scored.p_values is not None:
                    p_values[item.label] = scored.p_values
                record = caption_record(plan.spec, models[system.label], system, item, scored, clusters)
                undefined = np.flatnonzero(~scored.defined)
                ids = _example_ids(system, undefined[:MAX_LOGGED_IDS])
                execution.add(replace(record, statistics=name), ids, len(undefined))
                advance(1)
            _write_samples(writer, scoring, system, scores, p_values)
    return writer.table if path is None else None


def _clusters(column: str, system: PlannedSystem) -> np.ndarray | None:
    """Return the cluster of each example with candidates, texts of shape (B,); None for examples that are independent."""
    if not column:
        return None
    examples = [system.store[int(position)] for position in np.flatnonzero(system.present) + system.start]
    return np.array([cluster_of(example.meta, column, example.id) for example in examples])


def _example_ids(system: PlannedSystem, rows: np.ndarray) -> list[str]:
    """Return the ids of examples by their rows among those with candidates."""
    positions = np.flatnonzero(system.present)[rows] + system.start
    return [system.store[int(position)].id for position in positions]


def _write_samples(
    writer: SampleWriter,
    scoring: ScoringPass,
    system: PlannedSystem,
    scores: Mapping[str, np.ndarray],
    p_values: Mapping[str, np.ndarray],
) -> None:
    """Write the rows of a system, shard by shard."""
    first = 0
    for start, stop in scoring.shards:
        sets = system.caption_sets(start, stop)
        rows = slice(first, first + len(sets))
        first += len(sets)
        shard_scores, shard_p_values = ({name: values[rows] for name, values in columns.items()} for columns in (scores, p_values))
        writer.write(system.label, system.describe(), sets, shard_scores, shard_p_values)


def caption_record(
    spec: Spec,
    model: ModelPlan,
    system: PlannedSystem,
    plan: MetricPlan,
    scored: Scored,
    clusters: np.ndarray | None = None,
) -> ResultRecord:
    """Return the record of a metric on the caption sets of a system; examples without candidates count as skipped.

    ``clusters`` has the label of the cluster of each example with candidates, shape (B,), None for independent ones.
    """
    n, m = system.sizes()
    defined = scored.defined
    stats = scored.stats if defined.all() else scored.stats[defined]  # no copy of millions of rows
    clusters = None if clusters is None else clusters[defined]
    value, interval = estimate(plan.metric, stats, spec.bootstrap.samples, spec.seed, clusters)
    aggregate = combine_p_values(scored.p_values, scored.p_floors, spec.significance.fdr)
    rows = stats
    if plan.metric.spec.details_of_undefined and not isinstance(scored.stats, Objects):
        rows = scored.stats[~np.isnan(scored.stats).all(axis=1)]
    details = plan.details(rows) if len(rows) else None
    return ResultRecord(
        **_common(spec, model, system.describe(), plan),
        metric=plan.label,
        params=cast("Parameters", redact_values(dict(plan.params))),
        value=value,
        ci95=interval.ends,
        interval_note=interval.note or None,
        p_value=aggregate.get(COMBINED[spec.significance.aggregate]),
        p_method=f"{scored.p_method}, {spec.significance.aggregate}" if aggregate else None,
        n=int(defined.sum()),
        skipped=int((~defined).sum()) + len(system) - len(n),
        sizes={"candidates": np.unique(n).tolist(), "references": np.unique(m).tolist()},
        depends_on=_unusual_sizes(plan.metric.spec),
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


def _unusual_sizes(spec: MetricSpec) -> Sequence[str] | None:
    """Return the set sizes on which a metric depends; None for those of its level."""
    sizes = sorted(spec.depends_on or ())
    return None if sizes == sizes_of_level(spec.level) else sizes


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


def token_score_records(spec: Spec, model: ModelPlan, plan: TokenMetricPlan, scores: Sequence[Sequence[TokenScores]]) -> list[ResultRecord]:
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
