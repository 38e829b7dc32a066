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
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from harness.contracts import (
    CaptionSet,
    Example,
    Interval,
    Judgments,
    Parameters,
    Values,
)
from harness.contracts.metrics import SET_SIZES
from harness.errors import InputError
from harness.files.secrets import redact_values
from harness.judgments.agreement import agreements
from harness.judgments.between_metrics import MetricTests, compare_metrics
from harness.judgments.coverage import (
    checked_interval,
    interval_of_resamples,
    is_constant,
)
from harness.judgments.metric_scores import UNEQUAL, Agreement, MetricScores
from harness.judgments.plan import JudgmentPlan, manifest
from harness.judgments.raters import ONE_PERSON, judge_as_person, person_agreements
from harness.judgments.reference_policy import ScoringSets, rival_sets
from harness.judgments.rows import ALL, MEAN, JudgmentRows
from harness.judgments.system_agreement import average_cells, notes_of_strengths
from harness.registry import current
from harness.registry.hooks import Plugins
from harness.run.example_store import ExampleStore
from harness.run.execution import Execution, Options, connect_cluster
from harness.run.finished import Run
from harness.run.metric_plan import MetricPlan, unique
from harness.run.resources import check_sets
from harness.run.scored import Scored
from harness.run.scoring_pass import ScoringPass
from harness.run.shard_grid import ShardGrid
from harness.run.systems import PlannedSystem
from harness.rundir.artifact_key import ArtifactKey, content_digest
from harness.rundir.directory_check import Mode
from harness.rundir.format import JsonObject, plain
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import RunDir
from harness.rundir.sample_file import SampleWriter
from harness.rundir.samples import SampleTable
from harness.rundir.stored_paths import with_stored_contents
from harness.spec.judgment_models import (
    PAIR_STATISTICS,
    SYSTEM_STATISTICS,
    JudgmentSpec,
)
from harness.spec.models import SignificanceSpec
from harness.stats import bootstrap
from harness.stats.quantiles import wilson_interval
from harness.stats.ties import rank_scores

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
            "a task of judgments has no parts; run it without --shard", plan.spec.task
        )
    plugins = Plugins().load(current())
    with connect_cluster(options.executor) as cluster:
        # Read the judgments, and the references that each caption is scored with.
        rows, sets = plan.prepare()
        judgments = rows.judgments
        notes = notes_of_strengths(rows) if plan.compares_systems else []
        check_sets(plan.metrics, sets.sets)
        content = manifest(plan, judgments, plugins.failures)
        with (
            RunDir.create(output, content, mode) if output else nullcontext() as rundir
        ):
            if rundir is not None:
                if rundir.finished and _same(rundir.provenance.content, content):
                    return Run.of(rundir)
                if not _same(rundir.provenance.content, content):
                    if left_out := _labels(rundir.provenance.content) - _labels(
                        content
                    ):
                        names = ", ".join(sorted(left_out))
                        _log.warning(
                            "note: %s had %s too, which this spec has not; "
                            "harness rescore adds a metric",
                            output,
                            names,
                        )
                    rundir.replace_run(content)
            run = Execution(
                Provenance(content), rundir, plugins, options, show, cluster
            )
            with plugins.running(content):
                # Metrics: their scores of all captions.
                scored = score_metrics(plan, sets, run, judgments)
                # Numbers: agreement of each metric with people, and tests between the
                # metrics.
                results = [
                    _Judged(
                        metric, _values(rows, partial(agreements, rows, metric.scores))
                    )
                    for metric in scored
                ]
                _check_headline(results, plan, judgments)
                labels = [metric.plan.label for metric in scored]
                headline = [item.values[plan.spec.headline] for item in results]
                skipped = [
                    value.agreement.skipped
                    / max(1, value.agreement.skipped + value.agreement.n)
                    for value in headline
                ]
                tests = compare_metrics(
                    rows,
                    [metric.scores for metric in scored],
                    [value.value for value in headline],
                    skipped,
                )
                for k, item in enumerate(results):
                    tests_of_metric = {
                        **_tests_of(k, tests, labels, headline),
                        **_as_person(rows, item.metric),
                    }
                    for record in _records(plan.spec, item, tests_of_metric):
                        run.add(record)
                for record in _records_of_people(rows):
                    run.add(record)
                run.notes += [*judgments.notes, *notes]
                for item, rank in zip(results, tests.ranks):
                    run.notes += filter(
                        None, [_note(item, plan.spec, judgments, tests, rank)]
                    )
                    run.notes += _unequal_notes(item)
                return run.finish(_write_samples(run, judgments, sets, scored))


def _labels(content: JsonObject) -> set[str]:
    """Return the labels of the metrics of a manifest."""
    return {
        str(entry["label"]) for entry in cast("list[JsonObject]", content["metrics"])
    }


def _check_headline(
    results: Sequence[_Judged], plan: JudgmentPlan, judgments: Judgments
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


# --------------------------------------------------------------------------- values
@dataclass(frozen=True)
class _Value:
    agreement: Agreement
    value: float
    interval: Interval
    resampled: np.ndarray
    """Values of the resamples of the items, shape (samples,), NaN where undefined; all
    metrics have the same resamples.
    """


@dataclass(frozen=True)
class _Judged:
    metric: ScoredMetric
    values: dict[tuple[str, str], _Value]
    """(statistic, group) -> value."""


def _values(
    rows: JudgmentRows, agreements_of: Callable[[str], dict[str, Agreement]]
) -> dict[tuple[str, str], _Value]:
    """Return (statistic, group) -> value, from a map of a statistic to the agreements
    by group.
    """
    out: dict[tuple[str, str], _Value] = {}
    for statistic in rows.spec.statistics:
        of_groups = agreements_of(statistic)
        for group, agreement in of_groups.items():
            # A mean over groups has the items of the smallest one.
            members = (
                [of_groups[name] for name in of_groups if name not in (ALL, MEAN)]
                if group == MEAN
                else [agreement]
            )
            items = min(int(member.details.get("items", 0)) for member in members)
            out[statistic, group] = _resample(rows, statistic, agreement, items)
    return out


def _resample(
    rows: JudgmentRows, statistic: str, agreement: Agreement, items: int
) -> _Value:
    """Return the value of an agreement, and its interval by resamples of the items,
    of which so many count.
    """
    spec = rows.spec
    value = float(agreement.reduce(np.ones((1, rows.items)))[0])
    if not spec.bootstrap.samples or math.isnan(value):
        return _Value(agreement, value, Interval(None), np.zeros(0))

    def reduce(weights: np.ndarray) -> np.ndarray:
        # Weights are drawn for items in the order of their ids, whatever the order of a
        # file.
        return agreement.reduce(weights[:, rows.item_ranks])

    resampled = bootstrap.distribution(
        reduce, rows.items, spec.bootstrap.samples, spec.seed
    )
    # all right, all wrong, or all tied
    if statistic in PAIR_STATISTICS and is_constant(resampled):
        interval = Interval(wilson_interval(value, int(agreement.details["items"])))
    else:
        interval = checked_interval(
            statistic,
            spec.grouping_of(statistic),
            interval_of_resamples(resampled),
            items,
        )
    return _Value(agreement, value, interval, resampled)


def _tests_of(
    k: int, tests: MetricTests, labels: Sequence[str], headline: Sequence[_Value]
) -> Values:
    """Return the cluster of a metric, its tests against every other one, and the
    standard errors of the differences.
    """
    against: Values = {}
    for rival, name in enumerate(labels):
        if rival == k or math.isnan(tests.raw[k, rival]):
            continue
        entry: Values = {
            tests.exchange: float(tests.raw[k, rival]),
            f"{tests.exchange}_holm": float(tests.p_values[k, rival]),
        }
        of_pearson = tests.of_pearson.get((min(k, rival), max(k, rival)), {})
        entry.update(
            {
                key: -value if key.endswith("_t") and k > rival else value
                for key, value in of_pearson.items()
            }
        )
        if len(headline[k].resampled) == len(headline[rival].resampled) > 1:
            entry["standard_error"] = float(
                np.nanstd(headline[k].resampled - headline[rival].resampled, ddof=1)
            )
        against[name] = entry
    return {"cluster": tests.ranks[k], "against": against}


def _as_person(rows: JudgmentRows, metric: ScoredMetric) -> Values:
    """Return the result of the alternative annotator test of a metric,
    where the task has it.
    """
    spec = metric.plan.metric.spec
    scores = metric.scores.scores.mean(axis=1)
    if spec.higher_is_better is False:
        return judge_as_person(
            rows, -scores, spec.bounds and (spec.bounds[1], spec.bounds[0])
        )
    return judge_as_person(rows, scores, spec.bounds)


# --------------------------------------------------------------------------- records
def _records_of_people(rows: JudgmentRows) -> Iterator[ResultRecord]:
    """Yield the agreement of one person with the others by each statistic and group,
    for sets with the ratings of several people.
    """
    spec = rows.spec
    for (statistic, group), value in _values(
        rows, partial(person_agreements, rows)
    ).items():
        details: Values = {
            **value.agreement.details,
            **({"ceiling": True} if (statistic, group) == spec.headline else {}),
        }
        yield ResultRecord(
            model="",
            task=spec.task,
            metric=ONE_PERSON,
            higher_is_better=True,
            signature=_signature(spec, "people", statistic),
            value=value.value,
            ci95=value.interval.ends,
            interval_note=value.interval.note or None,
            n=value.agreement.n,
            skipped=value.agreement.skipped,
            details=details,
            statistic=spec.label(statistic),
            group=group,
        )


def _records(spec: JudgmentSpec, item: _Judged, tests: Values) -> list[ResultRecord]:
    metric = item.metric.plan
    seconds = item.metric.scored.seconds
    records: list[ResultRecord] = []
    for (statistic, group), value in item.values.items():
        details: Values = dict(value.agreement.details)
        note = (
            "no verdict on sets of different sizes"
            if UNEQUAL in details and math.isnan(value.value)
            else value.interval.note or None
        )
        if (statistic, group) == spec.headline:
            details.update(headline=True, **tests)
            if metric.metric.spec.details_of_undefined:
                details.update(
                    metric.details(np.asarray(item.metric.scored.stats)) or {}
                )
        details.update(_find_published_value(spec, metric.label, statistic, group))
        records.append(
            ResultRecord(
                model="",
                task=spec.task,
                metric=metric.label,
                params=cast("Parameters", redact_values(dict(metric.params))),
                higher_is_better=metric.metric.spec.higher_is_better,
                level=metric.metric.spec.level,
                signature=_signature(spec, metric.metric.signature(), statistic),
                value=value.value,
                ci95=value.interval.ends,
                interval_note=note,
                n=value.agreement.n,
                skipped=value.agreement.skipped,
                seconds=round(seconds, 4),
                details=details,
                statistics=item.metric.statistics,
                statistic=spec.label(statistic),
                group=group,
            )
        )
    return records


def _signature(spec: JudgmentSpec, metric: str, statistic: str) -> str:
    fields = [metric, spec.label(statistic), spec.references.describe()]
    if statistic in PAIR_STATISTICS:
        fields.append(f"ties:{spec.ties}")
    if spec.judgments.raters != "mean":
        fields.append(f"raters:{spec.judgments.raters}")
    return "|".join(fields)


def _find_published_value(
    spec: JudgmentSpec, label: str, statistic: str, group: str
) -> Values:
    """Return the published value of a metric with its source: a number,
    or the range over papers.
    """
    for table in spec.published:
        key = (table.statistic or spec.statistics[0], table.group or spec.headline[1])
        if key == (statistic, group) and label in table.values:
            value = table.values[label]
            number = (
                [end / 100 for end in value]
                if isinstance(value, tuple)
                else value / 100
            )
            return {"published": number, "reference": table.reference}
    return {}


def _note(
    item: _Judged,
    spec: JudgmentSpec,
    judgments: Judgments,
    tests: MetricTests,
    rank: int | None,
) -> str:
    """Return a remark on a metric of sets that scores single captions: how well it
    agrees with people there.
    """
    metric = item.metric.plan
    if metric.metric.spec.level == "item" or any(
        len(caption.texts) > 1 for caption in judgments.captions
    ):
        return ""
    value = item.values[spec.headline].value
    standing = (
        [] if rank is None else [f"cluster {rank} of {max(filter(None, tests.ranks))}"]
    )
    standing = (
        ["it is undefined"]
        if math.isnan(value)
        else [f"{spec.headline[0]} {value:.3f}", *standing]
    )
    return (
        f"{metric.label} compares sets, and a single caption is a set of one: "
        f"{', '.join(standing)} (docs/judgments.md)"
    )


def _unequal_notes(item: _Judged) -> Iterator[str]:
    """Yield what each statistic leaves out because its sets differ in a size on which
    the metric depends.
    """
    metric = item.metric.plan
    sizes = " and ".join(sorted(metric.metric.spec.depends_on or ()))
    for (statistic, group), value in item.values.items():
        if count := value.agreement.details.get(UNEQUAL):
            unit = (
                "pairs"
                if statistic in PAIR_STATISTICS
                else "systems"
                if statistic in SYSTEM_STATISTICS
                else "captions"
            )
            head = (
                f"{metric.label}, {statistic} ({group}): "
                f"no verdict on {count} of "
                f"{value.agreement.n + value.agreement.skipped} {unit}"
            )
            yield (
                f"{head}, whose sets differ in the number of {sizes} "
                "(docs/judgments.md)"
            )


# --------------------------------------------------------------------------- samples
def _write_samples(
    run: Execution,
    judgments: Judgments,
    sets: ScoringSets,
    scored: Sequence[ScoredMetric],
) -> SampleTable | None:
    """Write one row per judged caption with its human score, or per distinct caption
    set where captions are judged in pairs.
    """
    groups: list[tuple[str, list[CaptionSet], dict[str, np.ndarray]]] = []
    if judgments.pairs:
        names = {
            int(k): judgments.items[caption.item].id
            for caption, positions in zip(judgments.captions, sets.index)
            for k in positions.ravel()
        }
        rows = [
            CaptionSet(names[k], s.candidates, s.references)
            for k, s in enumerate(sets.sets)
        ]
        groups.append(
            ("", rows, {metric.plan.label: metric.per_set for metric in scored})
        )
    else:
        scores = {
            metric.plan.label: sets.scores(metric.per_set).mean(axis=1)
            for metric in scored
        }
        for system in dict.fromkeys(caption.system for caption in judgments.captions):
            members = [
                k
                for k, caption in enumerate(judgments.captions)
                if caption.system == system
            ]
            rows = [_sample(judgments, sets, k) for k in members]
            groups.append(
                (
                    system,
                    rows,
                    {name: values[members] for name, values in scores.items()},
                )
            )
    file = run.rundir.create_samples() if run.rundir is not None else None
    has_meta = any(row.meta for _, rows, _ in groups for row in rows)
    with SampleWriter(
        file, [metric.plan.label for metric in scored], (), has_meta=has_meta
    ) as writer:
        for system, rows, values in groups:
            writer.write(system, {}, rows, values, {})
    return writer.table if file is None else None


def _sample(judgments: Judgments, sets: ScoringSets, k: int) -> CaptionSet:
    caption = judgments.captions[k]
    item = judgments.items[caption.item]
    human = {"human": float(np.mean(caption.ratings))} if caption.ratings else {}
    references = sets.sets[int(sets.index[k, 0, 0])].references
    return CaptionSet(
        item.id, caption.texts, references, meta={**caption.meta, **human}
    )


@dataclass(frozen=True)
class ScoredMetric:
    """One metric with its scores."""

    plan: MetricPlan
    scored: Scored
    scores: MetricScores
    per_set: np.ndarray
    """Score of each set as the metric gives it, shape (sets,)."""
    statistics: str
    """Name of the artifacts with the statistics."""


def score_metrics(
    plan: JudgmentPlan, sets: ScoringSets, execution: Execution, judgments: Judgments
) -> list[ScoredMetric]:
    """Return the scores of each metric of a plan;
    statistics that the run has are read.
    """
    rivals = [metric for metric in plan.metrics if metric.metric.spec.rival]
    scored = _score_sets(
        plan,
        [metric for metric in plan.metrics if metric not in rivals],
        sets,
        execution,
    )
    if rivals:
        pairs = rival_sets(judgments)
        scored += [
            _spread_points(metric, judgments, sets)
            for metric in _score_sets(plan, rivals, pairs, execution)
        ]
    return sorted(scored, key=lambda metric: plan.metrics.index(metric.plan))


def _spread_points(
    metric: ScoredMetric, judgments: Judgments, sets: ScoringSets
) -> ScoredMetric:
    """Return a metric of pairs with its preferences,
    and with the mean points of each caption as its score.
    """
    points = metric.scores.scores[:, 0]
    captions = np.array(
        [(pair.first, pair.second) for pair in judgments.pairs]
    ).T.ravel()
    both = np.concatenate([points, 1 - points])
    single = np.zeros_like(captions)
    of_caption = average_cells(both, captions, single, len(judgments.captions), 1)
    (per_set,) = average_cells(
        both, sets.index[captions, 0, 0], single, len(sets.sets), 1
    )
    return replace(
        metric,
        scores=MetricScores(of_caption.T, of_pairs=2 * points[:, None] - 1),
        per_set=per_set,
    )


def _score_sets(
    plan: JudgmentPlan,
    metrics: Sequence[MetricPlan],
    sets: ScoringSets,
    execution: Execution,
) -> list[ScoredMetric]:
    """Return the scores of some metrics of a plan on its caption sets,
    or on sets of pairs.
    """
    texts = np.mean([len(item.candidates) + len(item.references) for item in sets.sets])
    size = execution.grid(len(sets.sets), float(texts)).size
    passes: list[ScoringPass] = []
    for corpus in sets.corpora:
        # A judged set is an example with the references that it is scored with. The
        # corpus has references of its own.
        members = sets.sets[corpus.start : corpus.stop]
        names = unique([item.id for item in members])
        store = ExampleStore(
            Example(name, item.references, item.media, item.source, item.meta)
            for name, item in zip(names, members)
        )
        system = PlannedSystem.of_rows(
            "", store, [{"candidates": list(item.candidates)} for item in members]
        )
        scoring_pass = ScoringPass(
            execution,
            metrics,
            [system],
            list(ShardGrid(len(members), size)),
            corpus.references,
            content_digest(corpus.references),
            SignificanceSpec(),
            plan.spec.seed,
            batch=None,
        )
        scoring_pass.compute()
        passes.append(scoring_pass)
    return [
        _scored_metric(
            metric,
            [scoring_pass.statistics(0, index) for scoring_pass in passes],
            sets,
            execution,
        )
        for index, metric in enumerate(metrics)
    ]


def _scored_metric(
    metric: MetricPlan,
    statistics: Sequence[tuple[Scored, str]],
    sets: ScoringSets,
    execution: Execution,
) -> ScoredMetric:
    """Return the scores of a metric from its statistics of each corpus and their
    names.
    """
    scored = Scored.join([scored for scored, _ in statistics])
    names = [name for _, name in statistics]
    name = names[0]
    if len(names) > 1:
        name = ArtifactKey.of(metric.label, names).stem
        execution.artifacts.write_shards(name, names)
    per_set = scored.per_example(metric.metric)
    ranked = rank_scores(metric.metric, scored.stats, per_set)
    return ScoredMetric(
        metric,
        scored,
        _metric_scores(metric, scored, per_set, ranked, sets),
        per_set,
        name,
    )


def _metric_scores(
    metric: MetricPlan,
    scored: Scored,
    per_set: np.ndarray,
    ranked: np.ndarray,
    sets: ScoringSets,
) -> MetricScores:
    sign = -1.0 if metric.metric.spec.higher_is_better is False else 1.0
    scores = sign * sets.scores(per_set)
    system_values: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    if metric.metric.spec.resampled and sets.index.shape[1:] == (1, 1):
        of_caption = sets.index[:, 0, 0]

        def reduce(captions: np.ndarray, weights: np.ndarray) -> np.ndarray:
            stats = scored.stats[of_caption[captions]]
            return sign * np.asarray(
                metric.metric.reduce(stats, weights), dtype=np.float64
            )

        system_values = reduce
    lengths = [(len(item.candidates), len(item.references)) for item in sets.sets]
    columns = zip(SET_SIZES, np.array(lengths)[sets.index[:, 0, 0]].T)
    sizes = {
        name: counts
        for name, counts in columns
        if name in (metric.metric.spec.depends_on or ())
    }
    return MetricScores(
        scores,
        system_values,
        sizes,
        ranked=sign * sets.scores(ranked),
        tolerance=metric.metric.spec.tolerance,
    )
