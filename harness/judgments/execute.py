"""Execution of a task of judgments: scores of every metric, agreement with people,
tests between metrics, records.

Statistics of metrics are artifacts of the run directory. A second look at the same data
(another statistic, another tie policy, one more metric) continues the run in its
directory and computes only what is missing.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

from harness.contracts import Judgments
from harness.errors import InputError
from harness.judgments.agreement import agreements
from harness.judgments.agreement_values import compute_values
from harness.judgments.between_metrics import MetricTests, compare_metrics
from harness.judgments.manifest import manifest
from harness.judgments.metric_notes import list_unequal_notes, note_on_single_captions
from harness.judgments.plan import JudgmentPlan
from harness.judgments.reference_policy import ScoringSets
from harness.judgments.result_records import (
    JudgedMetric,
    compare_with_people,
    list_tests,
    make_records,
    make_records_of_people,
)
from harness.judgments.rows import JudgmentRows
from harness.judgments.samples import write_samples
from harness.judgments.scoring import ScoredMetric, score_metrics
from harness.judgments.system_agreement import notes_of_strengths
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.results import Provenance, Run
from harness.run.execution import Execution, Options, connect_cluster
from harness.run.resources import check_sets
from harness.run.run_frame import compute_run
from harness.rundir.directory_check import Mode
from harness.rundir.format import JsonObject, plain
from harness.rundir.rundir import RunDir
from harness.rundir.stored_paths import with_stored_contents

_log = logging.getLogger(__name__)


def execute(
    plan: JudgmentPlan,
    *,
    output: Path | None = None,
    mode: Mode = "auto",
    show: bool = False,
    options: Options | None = None,
) -> Run:
    """Execute a plan and return the finished run; arguments as for
    :func:`harness.run.execute.execute`.
    """
    options = options or Options()
    if options.part is not None:
        raise InputError(
            "a task of judgments has no parts; run it as a whole", plan.spec.task
        )
    plugins = Plugins().load(current())
    with connect_cluster(options.executor) as cluster:
        # Read the judgments, and the references that each caption is scored with.
        rows, sets = plan.prepare()
        judgments = rows.judgments
        check_sets(plan.metrics, sets.sets)
        content = manifest(plan, judgments, plugins.failures)

        def replace_other_run(rundir: RunDir) -> None:
            if not _same(rundir.provenance.content, content):
                _warn_of_left_out_metrics(rundir, content, rundir.path)
                rundir.replace_run(content)

        def begin(provenance: Provenance, rundir: RunDir | None) -> Execution:
            return Execution(provenance, rundir, plugins, options, show, cluster)

        return compute_run(
            content,
            plugins,
            begin,
            partial(_compute_results, plan, rows, sets),
            output=output,
            mode=mode,
            prepare_directory=replace_other_run,
        )


def _compute_results(
    plan: JudgmentPlan, rows: JudgmentRows, sets: ScoringSets, run: Execution
) -> Run:
    """Compute what a run that has begun lacks, and return the finished run."""
    judgments = rows.judgments
    # Metrics: their scores of all captions.
    scored = score_metrics(plan, sets, run, judgments)

    # Numbers: agreement of each metric with people, and tests between the metrics.
    results, tests = _judge(plan, rows, scored)
    _add_records(run, rows, results, tests)

    # Remarks: on the judgments, on their systems and on each metric.
    run.notes += judgments.notes
    if plan.compares_systems:
        run.notes += notes_of_strengths(rows)
    for item, rank in zip(results, tests.ranks):
        remark = note_on_single_captions(item, plan.spec, judgments, tests, rank)
        run.notes += [remark] if remark else []
        run.notes += list_unequal_notes(item)
    return run.finish(write_samples(run, judgments, sets, scored))


def _warn_of_left_out_metrics(
    rundir: RunDir, content: JsonObject, output: Path
) -> None:
    """Say which metrics of the run the spec has not: their results are replaced."""
    left_out = _labels(rundir.provenance.content) - _labels(content)
    if left_out:
        _log.warning(
            "note: %s had %s too, which this spec has not; "
            "harness rescore adds a metric",
            output,
            ", ".join(sorted(left_out)),
        )


def _judge(
    plan: JudgmentPlan, rows: JudgmentRows, scored: Sequence[ScoredMetric]
) -> tuple[list[JudgedMetric], MetricTests]:
    """Return the agreement of each metric with people, and the tests between them."""
    results: list[JudgedMetric] = []
    for metric in scored:
        values = compute_values(rows, partial(agreements, rows, metric.scores))
        results.append(JudgedMetric(metric, values))
    _check_headline(results, plan, rows.judgments)

    headline = [item.values[plan.spec.headline] for item in results]
    skipped = [
        value.agreement.skipped / max(1, value.agreement.skipped + value.agreement.n)
        for value in headline
    ]
    tests = compare_metrics(
        rows,
        [metric.scores for metric in scored],
        [value.value for value in headline],
        skipped,
    )
    return results, tests


def _add_records(
    run: Execution,
    rows: JudgmentRows,
    results: Sequence[JudgedMetric],
    tests: MetricTests,
) -> None:
    """Add the records of the metrics, then those of people, to a run."""
    labels = [item.metric.plan.label for item in results]
    headline = [item.values[rows.spec.headline] for item in results]
    for k, item in enumerate(results):
        tests_of_metric = {
            **list_tests(k, tests, labels, headline),
            **compare_with_people(rows, item.metric),
        }
        for record in make_records(rows.spec, item, tests_of_metric):
            run.add(record)
    for record in make_records_of_people(rows):
        run.add(record)


def _labels(content: JsonObject) -> set[str]:
    """Return the labels of the metrics of a manifest."""
    return {
        str(entry["label"]) for entry in cast("list[JsonObject]", content["metrics"])
    }


def _check_headline(
    results: Sequence[JudgedMetric], plan: JudgmentPlan, judgments: Judgments
) -> None:
    """Raise :class:`InputError` when no metric has a value of the headline."""
    if all(math.isnan(item.values[plan.spec.headline].value) for item in results):
        names = ", ".join(item.metric.plan.label for item in results)
        raise InputError(
            f"no metric has a {plan.spec.statistics[0]}: "
            f"the scores of {names} are constant or undefined",
            judgments.source,
        )


def _same(stored: JsonObject, content: JsonObject) -> bool:
    """Return True for equal manifests; descriptions of the task and names of files do
    not count, what these hold does.
    """

    def select_compared_fields(manifest: JsonObject) -> JsonObject:
        out = dict(json.loads(json.dumps(plain(with_stored_contents(manifest)))))
        if "data" in out:
            out["data"] = {
                name: value for name, value in out["data"].items() if name != "source"
            }
        for name in ("description", "notice", "published"):
            out["spec"].pop(name, None)
        return {**out, "notice": ""}

    return select_compared_fields(stored) == select_compared_fields(content)
