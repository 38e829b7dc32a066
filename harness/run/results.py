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
    spec = plan.spec
    examples = scoring.fit.features.examples
    tested = [
        item.label
        for item in scoring.metrics
        if is_tested(item.metric, spec.significance)
        and examples >= item.metric.spec.testable_from
    ]
    columns = [item.label for item in scoring.metrics]
    models = {model.label: model for model in plan.models}
    has_meta = any(system.store.has_meta for system in scoring.systems)
    has_events = any(system.store.has_events for system in scoring.systems)
    slices = slices_of(spec, scoring.systems[0].store) if scoring.systems else []

    stage = execution.stage("results")
    count = len(scoring.systems) * len(columns)
    file = execution.rundir.create_samples() if execution.rundir is not None else None
    with (
        bar(stage, count, show=execution.show, unit="numbers") as advance,
        SampleWriter(
            file, columns, tested, has_meta=has_meta, has_events=has_events
        ) as writer,
    ):
        for index, system in enumerate(scoring.systems):
            model = models[system.label]
            clusters = _clusters(spec.cluster, system)
            scores: dict[str, np.ndarray] = {}
            p_values: dict[str, np.ndarray] = {}
            for metric, item in enumerate(scoring.metrics):
                scored, name = scoring.statistics(index, metric)
                scores[item.label] = scored.per_example(item.metric)
                if scored.p_values is not None:
                    p_values[item.label] = scored.p_values

                record = caption_record(spec, model, system, item, scored, clusters)
                undefined = np.flatnonzero(~scored.defined)
                ids = _example_ids(system, undefined[:MAX_LOGGED_IDS])
                execution.add(replace(record, statistics=name), ids, len(undefined))
                for part in slices:
                    execution.slices.append(
                        caption_record(
                            spec, model, system, item, scored, clusters, part
                        )
                    )
                advance(1)

            # A row has the scores of all metrics: rows are written when a system is
            # done.
            _write_samples(writer, scoring, system, scores, p_values, spec.slices)
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
    positions = np.flatnonzero(system.present) + system.start
    labels: list[str] = []
    for position in positions:
        example = system.store[int(position)]
        labels.append(cluster_of(example.meta, column, example.id))
    return np.array(labels)


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
        writer.write(
            system.label,
            system.describe(),
            sets,
            {name: values[rows] for name, values in scores.items()},
            {name: values[rows] for name, values in p_values.items()},
        )


def _nested_values(meta: Parameters, columns: Sequence[str]) -> Values:
    """Return the columns that a path alone reaches, by their whole names."""
    values = {
        column: value_of(meta, column) for column in columns if column not in meta
    }
    return {column: value for column, value in values.items() if value is not None}


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
        plan,
        scored,
        spec.significance,
        spec.bootstrap.samples,
        spec.seed,
        clusters,
        order,
    )
    numbers["skipped"] += absent
    sizes = {"candidates": np.unique(n).tolist(), "references": np.unique(m).tolist()}
    return ResultRecord(**fields, **numbers, sizes=sizes)


def restrict_scored(scored: Scored, rows: np.ndarray) -> Scored:
    """Return the results of the examples of a mask (B,)."""
    stats = scored.stats[rows]
    if scored.p_sums is not None:  # these sums have no parts
        return Scored(stats, None, None, "", 0.0, SUMMED)
    p_values = None if scored.p_values is None else scored.p_values[rows]
    p_floors = None if scored.p_floors is None else scored.p_floors[rows]
    return Scored(stats, p_values, p_floors, scored.p_method, 0.0, scored.p_note)


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
    metric = plan.metric
    values = metric.evaluate_scores(scores)
    sizes: Mapping[str, int] = {}
    if isinstance(metric, ReadsMeta):
        sizes = metric.column_sizes()

    # Resamples are drawn in the order of the ids, whatever that of the file.
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

    p_note = None
    if spec.significance.method != "none":
        p_note = "judges token scores, not captions"
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
            p_note=p_note,
        )
        for name, value in values.items()
    ]
