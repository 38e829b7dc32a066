"""Correlation studies: two groups of metric columns, pooled and per group of rows.

The dropping rule ``published`` is that of Tanti et al. (2018): a column of the first
group is dropped from the study when it has an infinity or is constant in any group of
rows, or over all rows. With ``never`` no column is dropped; its undefined coefficients
are NaN. An infinity drops no row. Rows with an empty cell in a selected column are
omitted and counted.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from harness.contracts import (
    CaptionSet,
    ReadsMeta,
    Scorer,
    TokenScores,
)
from harness.decisions.correlate.column_sources import read_columns
from harness.decisions.correlate.column_table import ColumnTable, RowKind, from_records
from harness.decisions.correlate.judgment_columns import judgment_table
from harness.decisions.correlate.study import ALL, SortKey, Study
from harness.errors import HarnessError, InputError, UnknownName, counted, did_you_mean
from harness.registry import current
from harness.registry.permissions import typed_by_user
from harness.results import Provenance, Run
from harness.run.intervals import estimate
from harness.run.metric_plan import (
    AnyMetricPlan,
    MetricPlan,
    TokenMetricPlan,
    caption_plans,
    metric_plans,
)
from harness.run.score import score_sets
from harness.rundir.file_names import MANIFEST
from harness.stats.correlation import correlate_columns, problem_of

DropRule = Literal["published", "never"]


def correlate(
    *sources: str | Path,
    x: str,
    y: str,
    rows: RowKind = "system",
    by: str | None = None,
    groups: Sequence[str] | None = None,
    drop: DropRule = "published",
    strata: int | None = None,
    strata_by: str | None = None,
    judgments: Sequence[str] | None = None,
    sort: SortKey = "r2",
) -> Study:
    """Return the correlations of two groups of columns over a table, runs,
    or human judgments.

    Parameters
    ----------
    *sources : str or Path
        Tables (CSV, TSV, Parquet, JSON), run directories, or (with ``judgments``) files
        of rated captions.
    x, y : str
        Comma-separated columns, patterns (``mean_*``) or metric names. A pattern of
        ``x`` selects neither ``y`` nor ids, metadata and human scores.
    rows : {"system", "example"}
        Row of a run.
    by : str, optional
        Column of groups; default: ``dataset`` or ``task`` where there is more than one;
        ``"none"``: no groups.
    groups : sequence of str, optional
        Groups to use, in this order.
    drop : {"published", "never"}
        Rule for columns with infinities or constant columns.
    strata : int, optional
        Split each system's examples into 1..K strata by the metric ``strata_by``
        (default: CIDEr) and compute all metrics on each.
    judgments : sequence of str, optional
        Metrics that become columns beside the human scores.
    sort : {"r2", "r", "spearman", "kendall", "name"}
        Order of the x columns.
    """
    table = source_table(sources, rows, strata, strata_by, judgments)
    columns = choose(table, y)
    result = study(
        table,
        choose(table, x, columns),
        columns,
        by=grouping(table, by),
        groups=groups,
        drop=drop,
    )
    return replace(result, sort=sort)


def source_table(
    sources: Sequence[str | Path],
    rows: RowKind,
    strata: int | None,
    strata_by: str | None,
    judgments: Sequence[str] | None,
) -> ColumnTable:
    """Return the columns of a table file, of runs, of runs on strata,
    or of a file of human judgments.
    """
    if strata is not None:
        by = strata_by or current().with_role("metrics", "strata").name
        return stratified_runs([Path(source) for source in sources], strata, by)
    if judgments is not None:
        return judgment_table([Path(source) for source in sources], judgments, rows)
    return read_columns(sources, rows)


def grouping(table: ColumnTable, by: str | None) -> str | None:
    """Return the column of groups: ``by`` (None for ``"none"``), by default ``dataset``
    or ``task`` where there are several.
    """
    if by is not None:
        return None if by == "none" else by
    for name in ("dataset", "task"):
        if name in table.labels and len(set(table.labels[name])) > 1:
            return name
    return None


def choose(
    table: ColumnTable, selection: str, excluded: Sequence[str] = ()
) -> list[str]:
    """Return the number columns of a comma-separated list of column names, patterns
    (``mean_*``) and metric names.

    A metric name selects all its columns in the table: those called ``name(...)``, and
    those that the metric declares in ``column_names``. A pattern selects neither the
    columns of ``excluded`` nor ids, metadata and human scores
    (``ColumnTable.unselected``), unless it matches nothing else. Raises
    :class:`UnknownName` with the nearest column.
    """
    names = list(table.numbers)
    columns: list[str] = []
    for item in filter(None, map(str.strip, selection.split(","))):
        # A column of this very name comes before a pattern, and before a metric.
        matches = [item] if item in table.numbers else []
        matches = matches or _match_pattern(table, item, excluded)
        matches = matches or [name for name in names if name.startswith(f"{item}(")]
        matches = matches or _columns_of_metric(item, names)
        if not matches:
            hint = did_you_mean(item, names)
            raise UnknownName(
                f"{table.source} has no number column '{item}'{hint}; "
                f"it has {_name_some(names)}"
            )
        columns.extend(matches)

    if not columns:
        raise HarnessError(f"{selection!r} selects no column", value=selection)
    if set(columns) <= set(excluded) and len(excluded) == 1:
        raise HarnessError(
            f"x and y are the same column, '{excluded[0]}'", value=selection
        )
    return list(dict.fromkeys(columns))


def _match_pattern(
    table: ColumnTable, pattern: str, excluded: Sequence[str]
) -> list[str]:
    """Return the columns of a pattern: scores, or, for a pattern that matches no score
    and is more than ``*``, the others.
    """
    names = [
        name
        for name in fnmatch.filter(list(table.numbers), pattern)
        if name not in excluded
    ]
    scores = [name for name in names if name not in table.unselected]
    return scores or ([] if pattern == "*" else names)


def _columns_of_metric(name: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that a metric of models declares."""
    if not any(
        entry.name == name and entry.level == "model"
        for entry in current().entries("metrics")
    ):
        return []
    names = set(current().create("metrics", name).spec.column_names)
    return [column for column in columns if column in names]


def _name_some(names: Sequence[str], count: int = 8) -> str:
    further = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + further


def study(
    table: ColumnTable,
    x: Sequence[str],
    y: Sequence[str],
    *,
    by: str | None = None,
    groups: Sequence[str] | None = None,
    drop: DropRule = "published",
) -> Study:
    """Correlate the columns ``x`` with the columns ``y`` over all rows and, with
    ``by``, within each of its groups.

    Parameters
    ----------
    table : ColumnTable
        The columns, n rows.
    x, y : sequence of str
        Number columns.
    by : str, optional
        Column of groups.
    groups : sequence of str, optional
        Groups to use, in this order; default: all, in order of first appearance.
    drop : {"published", "never"}
        Rule for x columns with infinities and constant ones, see the module.

    Raises
    ------
    UnknownName
        An unknown column or group.
    InputError
        A group has fewer than two complete rows, or no x column is left.
    """
    labels = np.array(table.groups(by)) if by else np.full(len(table), ALL)
    names = list(dict.fromkeys(labels.tolist())) if groups is None else list(groups)
    for name in names:
        if by and name not in labels:
            raise UnknownName(
                f"{table.source} has no rows with {by} "
                f"'{name}'{did_you_mean(name, sorted(set(labels)))}"
            )

    a = table.matrix(x)
    b = table.matrix(y)
    complete = ~(np.isnan(a).any(axis=1) | np.isnan(b).any(axis=1))
    in_groups = np.isin(labels, names)
    usable = complete & in_groups
    masks = {name: usable & (labels == name) for name in names} if by else {}
    masks[ALL] = usable
    for name, mask in masks.items():
        if mask.sum() < 2:
            raise InputError(
                f"the group '{name}' has {int(mask.sum())} rows without empty cells; "
                "at least two are needed",
                table.source,
            )

    dropped = _find_dropped(x, a, masks) if drop == "published" else {}
    remaining = [k for k, name in enumerate(x) if name not in dropped]
    if not remaining:
        reasons = "; ".join(
            f"{name}: {reason}" for name, reason in list(dropped.items())[:3]
        )
        raise InputError(f"no column is left to correlate ({reasons})", table.source)

    tables = {
        name: correlate_columns(a[mask][:, remaining], b[mask])
        for name, mask in masks.items()
    }
    return Study(
        source=table.source,
        x=tuple(x[k] for k in remaining),
        y=tuple(y),
        tables=tables,
        dropped=dropped,
        left_out=int((in_groups & ~complete).sum()),
        by=by,
        table=table,
    )


def _find_dropped(
    names: Sequence[str], columns: np.ndarray, masks: Mapping[str, np.ndarray]
) -> dict[str, str]:
    """Return column -> reason why the rule of Tanti et al. (2018) drops it."""
    reasons: dict[str, str] = {}
    for k, name in enumerate(names):
        for group, mask in masks.items():
            values = columns[mask, k]
            # checked first, as published: a column of inf alone is "inf", not constant
            if np.isinf(values).any():
                reasons[name] = f"inf in {group}"
                break
            if problem_of(values):
                reasons[name] = f"constant in {group}"
                break
    return reasons


def stratified_runs(paths: Sequence[Path], largest: int, by: str) -> ColumnTable:
    """Return one row per model, decoding and stratum of runs:
    ``largest * (largest + 1) / 2`` strata for each system.

    Columns are those of the runs' metrics; labels are run, dataset, model and decoding.
    Raises :class:`InputError` for a run without samples, or with fewer examples than
    strata.
    """
    with typed_by_user():
        (scorer,) = caption_plans(metric_plans([by]))
    rows: list[dict[str, object]] = []
    for path in paths:
        run = Run.open(path)
        plans = _plans_of_run(run)
        systems = run.samples.systems
        if not systems:
            raise InputError("its samples hold no captions", str(path))

        # Metrics of tokens need the run's model itself: its scores are not stored.
        needs_tokens = any(isinstance(plan, TokenMetricPlan) for plan in plans)
        for system in systems:
            scores = {}
            if needs_tokens:
                scores = _token_scores(run.provenance, system.model)
            labels = {
                "run": str(path),
                "dataset": run.provenance.task,
                "model": system.model,
                "decoding": system.decoding_key,
            }
            of_strata = stratify_by_metric(
                system.caption_sets(), plans, largest, scorer, scores
            )
            rows += [{**labels, **row} for row in of_strata]
    return from_records(", ".join(map(str, paths)), rows)


def _plans_of_run(run: Run) -> list[AnyMetricPlan]:
    """Return the metrics of a run, created from its manifest; raise :class:`InputError`
    for a key or code that the user has not allowed.
    """
    try:
        return metric_plans(
            [{item.name: item.params} for item in run.provenance.metrics]
        )
    except InputError as error:
        where = str(run.path / MANIFEST) if run.path else None
        raise InputError(str(error), where) from error


def stratify_by_metric(
    sets: Sequence[CaptionSet],
    plans: Sequence[AnyMetricPlan],
    largest: int,
    scorer: MetricPlan,
    token_scores: Mapping[str, Sequence[TokenScores]] | None = None,
) -> list[dict[str, object]]:
    """Return one mapping per stratum, for 1 to ``largest`` strata: num_strata, stratum,
    and the value of every metric.

    None is the value of a metric that is undefined. Raises :class:`InputError` for more
    strata than examples, or an undefined score.
    """
    if not 1 <= largest <= len(sets):
        raise InputError(
            f"cannot make {largest} strata of {counted(len(sets), 'example')}"
        )
    per_example = _score_sets(scorer, sets)
    if np.isnan(per_example).any():
        at = int(np.argmax(np.isnan(per_example)))
        raise InputError(
            f"'{scorer.label}' is undefined for the example '{sets[at].id}'; "
            "strata need a score for every example"
        )

    rows: list[dict[str, object]] = []
    for k in range(1, largest + 1):
        for s, members in enumerate(strata(per_example, k)):
            member_sets = [sets[i] for i in members]
            values: dict[str, object] = {"num_strata": k, "stratum": s}
            for plan in plans:
                values.update(_evaluate(plan, member_sets, token_scores or {}))
            rows.append(values)
    return rows


def _score_sets(plan: MetricPlan, sets: Sequence[CaptionSet]) -> np.ndarray:
    (scored,) = score_sets([plan.metric], sets)
    return scored.per_example(plan.metric)


def _evaluate(
    plan: AnyMetricPlan,
    sets: Sequence[CaptionSet],
    token_scores: Mapping[str, Sequence[TokenScores]],
) -> dict[str, float | None]:
    """Return column -> number of a metric on caption sets; None where undefined."""
    if isinstance(plan, TokenMetricPlan):
        metric = plan.metric
        if isinstance(metric, ReadsMeta):
            metric = metric.of_meta(item.meta for item in sets)
        values = metric.evaluate_scores([token_scores[item.id] for item in sets])
        return {f"{plan.name}({name})": value for name, value in values.items()}
    (scored,) = score_sets([plan.metric], sets)
    value, _ = estimate(plan.metric, scored.stats[scored.defined], 0, 0)
    return {plan.label: None if np.isnan(value) else value}


def _token_scores(
    provenance: Provenance, label: str
) -> dict[str, Sequence[TokenScores]]:
    """Return example id -> token scores, from the run's own model on the run's own
    data.
    """
    model = provenance.model(label)
    adapter = current().create("adapters", model.adapter, model.params)
    if adapter.fingerprint() != model.fingerprint:
        raise HarnessError(
            f"model '{label}' has changed since the run "
            f"({json.dumps(dict(model.params))})"
        )
    if not isinstance(adapter, Scorer):
        raise HarnessError(
            f"model '{label}' ({model.adapter}) cannot score references token by token"
        )

    dataset = dict(provenance.spec["dataset"])
    reader = current().create("readers", dataset.pop("reader"), dataset)
    examples = list(reader)[: provenance.data["examples"]]
    return {
        example.id: scores
        for example, scores in zip(examples, adapter.score_references(examples))
    }


def strata(per_image_scores: Sequence[float] | np.ndarray, k: int) -> list[list[int]]:
    """Return k lists of item indices by ascending score, for scores (N,).

    Stratum s holds the positions [N//k * s, N//k * (s + 1)) of a stable sort. The N mod
    k items with the highest scores belong to no stratum (Tanti et al. 2018); with k > N
    every stratum is empty.

    Raises
    ------
    InputError
        k is not an integer of at least 1, or a score is NaN.

    Examples
    --------
    >>> strata([0.3, 0.1, 0.2, 0.9, 0.5], 2)
    [[1, 2], [0, 4]]
    """
    scores = np.asarray(per_image_scores, dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(
            f"strata need one score per item; found an array of shape {scores.shape}"
        )
    if isinstance(k, bool) or int(k) != k or k < 1:
        raise InputError(
            f"the number of strata is {k!r}; expected an integer of at least 1", value=k
        )
    if np.isnan(scores).any():
        raise InputError(
            "a score is NaN; strata need a number for every item",
            f"item {int(np.argmax(np.isnan(scores)))}",
        )

    order = np.argsort(scores, kind="stable")
    size = len(scores) // int(k)
    return [order[size * s : size * (s + 1)].tolist() for s in range(int(k))]
