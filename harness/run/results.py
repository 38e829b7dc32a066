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
from harness.run.metric_plan import MetricPlan, ModelPlan, Plan, TokenMetricPlan
from harness.run.progress import bar
from harness.run.record_fields import metric_fields, number_fields
from harness.run.score import is_tested
from harness.run.scored import Scored
from harness.run.scoring_pass import ScoringPass
from harness.run.systems import PlannedSystem
from harness.run.token_intervals import token_intervals
from harness.rundir.records import ResultRecord
from harness.rundir.sample_file import SampleWriter
from harness.rundir.samples import SampleTable, cluster_of
from harness.rundir.slices import Slice, find_slices, value_of
from harness.spec.models import Spec
from harness.stats.name_order import restrict_order

MAX_LOGGED_IDS = 100
"""Maximum number of skipped-example ids written to the log;
samples.parquet has all of them as null scores.
"""
SUMMED = "is tested over all examples together (aggregate: summed)"
"""Note of a result of a slice whose run sums statistics under joint relabelings of all
examples.
"""


def collect_results(
    execution: Execution, plan: Plan, scoring: ScoringPass
) -> SampleTable | None:
    """Add a record of every system and metric to the execution, and write the samples;
    those of a run in memory are returned.
    """
    examples = scoring.fit.features.examples
    significance = plan.spec.significance
    tested = [
        p.label
        for p in scoring.metrics
        if is_tested(p.metric, significance) and examples >= p.metric.spec.testable_from
    ]
    file = execution.rundir.create_samples() if execution.rundir is not None else None
    columns = [item.label for item in scoring.metrics]
    models = {model.label: model for model in plan.models}
    has_meta = any(system.store.has_meta for system in scoring.systems)
    count = len(scoring.systems) * len(columns)
    slices = slices_of(plan.spec, scoring.systems[0].store) if scoring.systems else []
    with (
        bar(
            execution.stage("results"), count, show=execution.show, unit="numbers"
        ) as advance,
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
                record = caption_record(
                    plan.spec, models[system.label], system, item, scored, clusters
                )
                undefined = np.flatnonzero(~scored.defined)
                ids = _example_ids(system, undefined[:MAX_LOGGED_IDS])
                execution.add(replace(record, statistics=name), ids, len(undefined))
                execution.slices += [
                    caption_record(
                        plan.spec,
                        models[system.label],
                        system,
                        item,
                        scored,
                        clusters,
                        part,
                    )
                    for part in slices
                ]
                advance(1)
            _write_samples(writer, scoring, system, scores, p_values, plan.spec.slices)
    return writer.table if file is None else None


def slices_of(spec: Spec, examples: ExampleStore) -> list[Slice]:
    """Return the slices of the examples that a spec asks for; raises as
    :func:`harness.rundir.slices.slice_values`.
    """
    return find_slices(
        lambda: (example.meta for example in examples),
        spec.slices,
        limited=spec.limit is not None,
    )


def _clusters(column: str, system: PlannedSystem) -> np.ndarray | None:
    """Return the cluster of each example with candidates, texts of shape (B,); None for
    examples that are independent.
    """
    if not column:
        return None
    examples = [
        system.store[int(position)]
        for position in np.flatnonzero(system.present) + system.start
    ]
    return np.array(
        [cluster_of(example.meta, column, example.id) for example in examples]
    )


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
    slices: Sequence[str],
) -> None:
    """Write the rows of a system, shard by shard; the metadata have the columns of
    slices by name, nested ones too.
    """
    first = 0
    for start, stop in scoring.shards:
        sets = system.caption_sets(start, stop)
        if slices:
            sets = [
                replace(item, meta={**item.meta, **_nested_values(item.meta, slices)})
                for item in sets
            ]
        rows = slice(first, first + len(sets))
        first += len(sets)
        shard_scores, shard_p_values = (
            {name: values[rows] for name, values in columns.items()}
            for columns in (scores, p_values)
        )
        writer.write(
            system.label, system.describe(), sets, shard_scores, shard_p_values
        )


def _nested_values(meta: Parameters, columns: Sequence[str]) -> Values:
    """Return the columns that a path alone reaches, by their whole names."""
    found = {column: value_of(meta, column) for column in columns if column not in meta}
    return {column: value for column, value in found.items() if value is not None}


def caption_record(
    spec: Spec,
    model: ModelPlan,
    system: PlannedSystem,
    plan: MetricPlan,
    scored: Scored,
    clusters: np.ndarray | None = None,
    part: Slice | None = None,
) -> ResultRecord:
    """Return the record of a metric on the caption sets of a system; examples without
    candidates count as skipped.

    ``clusters`` has the label of the cluster of each example with candidates, shape
    (B,), None for independent ones. ``part`` is a slice whose examples alone count.
    Their statistics are those of the whole run, so that what is fitted on references,
    such as document frequencies, is fitted on those of all examples; sums over the
    corpus are over the slice.
    """
    n, m = system.sizes()
    order = system.order
    absent = len(system) - len(n)
    significance = spec.significance
    fields = _system_fields(spec, model, system.describe())
    if part is not None:
        inside = part.mask[system.start : system.start + len(system)]
        rows = inside[system.present]
        absent = int(inside.sum() - rows.sum())
        scored = restrict_scored(scored, rows)
        n, m = n[rows], m[rows]
        clusters = None if clusters is None else clusters[rows]
        order = restrict_order(order, rows)
        fields["slice"] = part.name
    numbers = number_fields(
        plan, scored, significance, spec.bootstrap.samples, spec.seed, clusters, order
    )
    numbers["skipped"] += absent
    sizes = {"candidates": np.unique(n).tolist(), "references": np.unique(m).tolist()}
    return ResultRecord(**fields, **numbers, sizes=sizes)


def restrict_scored(scored: Scored, rows: np.ndarray) -> Scored:
    """Return the results of the examples of a mask (B,)."""
    if scored.p_sums is not None:  # these sums have no parts
        return Scored(scored.stats[rows], None, None, "", 0.0, SUMMED)
    p_values, p_floors = (
        None if values is None else values[rows]
        for values in (scored.p_values, scored.p_floors)
    )
    return Scored(
        scored.stats[rows], p_values, p_floors, scored.p_method, 0.0, scored.p_note
    )


def _system_fields(spec: Spec, model: ModelPlan, decoding: Parameters) -> Values:
    params = redact_values(dict(model.params))
    return {
        "model": model.label,
        "model_params": params,
        "task": spec.task,
        "decoding": dict(decoding),
    }


def token_score_records(
    spec: Spec,
    model: ModelPlan,
    plan: TokenMetricPlan,
    scores: Sequence[Sequence[TokenScores]],
    examples: ExampleStore,
) -> list[ResultRecord]:
    """Return one record per column of a metric of level ``model``, from the token
    scores of the examples of a run.
    """
    started = time.perf_counter()
    values = plan.metric.evaluate_scores(scores)
    metric = plan.metric
    sizes: Mapping[str, int] = (
        metric.column_sizes() if isinstance(metric, ReadsMeta) else {}
    )
    resampled = scores
    if examples.order is not None:
        order: list[int] = examples.order.tolist()
        metas = [example.meta for example in examples]
        resampled = [scores[k] for k in order]
        metric = plan.of_meta(metas[k] for k in order).metric
    intervals = token_intervals(
        metric, resampled, values, spec.bootstrap.samples, spec.seed
    )
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
            p_note=None
            if spec.significance.method == "none"
            else "judges token scores, not captions",
        )
        for name, value in values.items()
    ]
