"""Result records and samples of scored metrics."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.contracts import Parameters, ReadsMeta, TokenScores, Values
from harness.files.secrets import redact_values
from harness.run.example_store import ExampleStore
from harness.run.execution import Execution
from harness.run.intervals import metric_fields, number_fields, token_intervals
from harness.run.metric_plan import MetricPlan, ModelPlan, Plan, TokenMetricPlan
from harness.run.progress import bar
from harness.run.score import Scored, is_tested
from harness.run.scoring_pass import ScoringPass
from harness.run.systems import PlannedSystem
from harness.rundir.records import ResultRecord
from harness.rundir.sample_file import SampleWriter
from harness.rundir.samples import SampleTable, cluster_of
from harness.spec.models import Spec

MAX_LOGGED_IDS = 100
"""Maximum number of skipped-example ids written to the log; samples.parquet has all of them as null scores."""


def collect_results(execution: Execution, plan: Plan, scoring: ScoringPass) -> SampleTable | None:
    """Add a record of every system and metric to the execution, and write the samples; those of a run in memory are returned."""
    examples, significance = scoring.fit.features.examples, plan.spec.significance
    tested = [p.label for p in scoring.metrics if is_tested(p.metric, significance) and examples >= p.metric.spec.testable_from]
    file = execution.rundir.create_samples() if execution.rundir is not None else None
    columns = [item.label for item in scoring.metrics]
    models = {model.label: model for model in plan.models}
    has_meta = any(system.store.has_meta for system in scoring.systems)
    count = len(scoring.systems) * len(columns)
    with (
        bar(execution.stage("results"), count, show=execution.show, unit="numbers") as advance,
        SampleWriter(file, columns, tested, has_meta=has_meta) as writer,
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
    return writer.table if file is None else None


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
    writer: SampleWriter, scoring: ScoringPass, system: PlannedSystem, scores: Mapping[str, np.ndarray], p_values: Mapping[str, np.ndarray]
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
    spec: Spec, model: ModelPlan, system: PlannedSystem, plan: MetricPlan, scored: Scored, clusters: np.ndarray | None = None
) -> ResultRecord:
    """Return the record of a metric on the caption sets of a system; examples without candidates count as skipped.

    ``clusters`` has the label of the cluster of each example with candidates, shape (B,), None for independent ones.
    """
    n, m = system.sizes()
    numbers = number_fields(plan, scored, spec.significance, spec.bootstrap.samples, spec.seed, clusters, system.order)
    numbers["skipped"] += len(system) - len(n)
    sizes = {"candidates": np.unique(n).tolist(), "references": np.unique(m).tolist()}
    return ResultRecord(**_system_fields(spec, model, system.describe()), **numbers, sizes=sizes)


def _system_fields(spec: Spec, model: ModelPlan, decoding: Parameters) -> Values:
    params = redact_values(dict(model.params))
    return {"model": model.label, "model_params": params, "task": spec.task, "decoding": dict(decoding)}


def token_score_records(
    spec: Spec, model: ModelPlan, plan: TokenMetricPlan, scores: Sequence[Sequence[TokenScores]], examples: ExampleStore
) -> list[ResultRecord]:
    """Return one record per column of a metric of level ``model``, from the token scores of the examples of a run."""
    started = time.perf_counter()
    values = plan.metric.evaluate_scores(scores)
    metric = plan.metric
    sizes: Mapping[str, int] = metric.column_sizes() if isinstance(metric, ReadsMeta) else {}
    resampled = scores
    if examples.order is not None:
        order: list[int] = examples.order.tolist()
        metas = [example.meta for example in examples]
        resampled = [scores[k] for k in order]
        metric = plan.of_meta(metas[k] for k in order).metric
    intervals = token_intervals(metric, resampled, values, spec.bootstrap.samples, spec.seed)
    seconds = round(time.perf_counter() - started, 4)
    return [
        ResultRecord(
            **_system_fields(spec, model, {}),
            **metric_fields(plan, name),
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
