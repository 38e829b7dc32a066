"""Paired comparisons of systems of one run or of two: tests of the number that the
table reports, and of per-example scores.

Systems whose set sizes differ can be compared on random subsets of the larger sets
within each example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np

from harness.analysis.comparison_frame import Frame
from harness.analysis.comparison_rows import (
    comparison_row,
    row_without_verdict,
    untested_row,
)
from harness.analysis.comparisons import Comparison, Comparisons, finite, with_verdict
from harness.analysis.equalised_sets import SUBSETS, equalised_tests
from harness.analysis.metric_comparisons import metric_comparisons
from harness.analysis.paired_family import paired_tests
from harness.analysis.pairs import (
    Pair,
    differences_of_runs,
    log_notes,
    open_sides,
    pairs,
    pairs_against,
)
from harness.analysis.score_declarations import Bounds, DeclaredScores, declare_scores
from harness.analysis.score_logs import ScoreLog
from harness.analysis.stored_comparisons import StoredComparisons
from harness.errors import HarnessError
from harness.registry.catalogue import spelling
from harness.registry.display_names import labels_by_spelling
from harness.run.finished import Run
from harness.run.progress import bar
from harness.run.stored_metrics import StoredMetric
from harness.stats.draws import DrawFamily
from harness.stats.multiplicity import benjamini_hochberg_adjusted, holm

EQUALISED = "|equalised"
"""End of the name of a row in ``comparisons.json`` that compares subsets of equal size.
"""
DRAWS = 10_000
"""Default number of random weight vectors of each test."""


def compare(
    run_a: str | Path | Run,
    run_b: str | Path | Run | None = None,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    force: bool = False,
    equalise: bool = False,
    anytime: bool = False,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    show: bool = False,
) -> Comparisons:
    """Return paired comparisons of the systems of one run or of two,
    one row per pair and metric.

    The systems of a run of judgments are its metrics, compared by their agreement with
    people.

    Parameters
    ----------
    run_a, run_b : str, Path or Run
        Run directories, ``RUN::MODEL``, or runs. With one run all pairs of its systems
        are compared, with two the systems of the same name.
    baseline : str, optional
        Label of a model: the other systems of the run (A) are compared with it (B).
    metrics : sequence of str, optional
        Labels of metrics; default: all that both systems have.
    force : bool
        Compare runs that differ in their data, metrics or reference counts; the
        differences are in ``forced`` of each row.
    equalise : bool
        Compare numbers that depend on a set size, where the sizes differ, on random
        subsets of equal size within each example; default: these rows have no verdict,
        and ``note`` says why (:func:`harness.analysis.equalised_sets.equalised_tests`).
    anytime : bool
        Add the confidence sequence of each difference, valid however often one looks
        (:mod:`harness.analysis.anytime`).
    lower_is_better, higher_is_better : sequence of str
        Metrics of logs whose direction is the named one, whatever the log or the name
        says.
    bounds : (float, float) or mapping
        Smallest and largest possible score of all metrics of logs, or label -> these:
        their sequences are then betting ones.
    draws : int
        Bootstrap resamples, random assignments of approximate randomisation, and random
        sign patterns.
    seed : int
        Seed of the random draws.
    show : bool
        Draw a progress bar on stderr.

    Raises
    ------
    HarnessError
        The runs share no system, no example or no metric, or differ in what ``force``
        names; a metric of a log has no clear direction, or scores outside its bounds.
    """
    if draws < 1:
        raise HarnessError(
            f"draws is {draws}; expected at least 1", parameter="draws", value=draws
        )
    opened = open_sides([run_a, *([run_b] if run_b else [])])
    sides = declare_scores(
        opened, DeclaredScores(lower_is_better, higher_is_better, bounds)
    )
    if any(side.run.provenance.kind for side in sides):
        if equalise:
            raise HarnessError(
                "--equalise belongs to systems of models; "
                "a run of judgments compares metrics"
            )
        return Comparisons(
            metric_comparisons([side.run for side in sides], baseline, metrics)
        )
    compared = pairs(sides) if baseline is None else pairs_against(sides, baseline)
    records = [record for pair in compared for record in pair.records]
    forced = differences_of_runs(
        [side.run for side in sides], [side.name for side in sides], records
    )
    if equalise:
        forced = [text for text in forced if " references in " not in text]
    if forced and not force:
        raise HarnessError(f"{forced[0]}; --force compares them all the same")
    rows = compare_pairs(
        compared,
        metrics=metrics,
        equalise=equalise,
        anytime=anytime,
        draws=draws,
        seed=seed,
        show=show,
    )
    compared_rows = adjusted(
        [replace(row, forced=forced) for row in rows] if forced else rows
    )
    return Comparisons(compared_rows, log_notes(sides, metrics))


def compare_pairs(
    compared: Sequence[Pair],
    *,
    metrics: Sequence[str] | None = None,
    equalise: bool = False,
    anytime: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    show: bool = False,
) -> list[Comparison]:
    """Return the comparisons of pairs and metrics,
    before they are adjusted for many tests.

    Those of pairs within one run are read from its ``comparisons.json``, or computed
    and written to it. A metric whose number cannot be resampled has a ``note`` instead.
    Raises :class:`HarnessError` when no pair shares an example, or two systems share no
    metric.
    """
    if not any(pair.shares_examples for pair in compared):
        names = " and ".join(
            f"{label} ({side.name})"
            for label, side in zip(
                compared[0].labels, (compared[0].one, compared[0].other)
            )
        )
        raise HarnessError(f"{names} share no example")
    frame = Frame()
    jobs = list[tuple[Pair, str]]()
    for pair in compared:
        frame.add(pair)
        jobs += [(pair, name) for name in select_metrics(pair, metrics)]
    store = StoredComparisons.of(
        [side.run for pair in compared for side in (pair.one, pair.other)], draws, seed
    )
    unequal = {
        k: text
        for k, (pair, name) in enumerate(jobs)
        if (text := pair.size_difference(name) or frame.state_difference(pair, name))
    }
    # Rows of equal sizes are the same with and without ``equalise``; the others are
    # kept side by side.
    keys = [
        row_name(pair, name) + (EQUALISED if equalise and k in unequal else "")
        for k, (pair, name) in enumerate(jobs)
    ]
    todo = [k for k, key in enumerate(keys) if key not in store.rows]
    # Metrics are created for what is asked of them alone: kept rows need none.
    asked = range(len(jobs)) if anytime else todo
    refused = {
        k: text for k in asked if k not in unequal and (text := frame.refusal(*jobs[k]))
    }
    rows_without_component: dict[str, Comparison] = {}
    if todo:
        clusters = frame.clusters()
        family = DrawFamily(
            len(frame.examples) if clusters is None else int(clusters.max()) + 1,
            draws,
            seed,
        )
        items = [frame.item(*jobs[k]) for k in todo if k not in unequal | refused]
        with (
            bar("comparisons", len(todo), show=show, unit="tests") as advance,
            store.adding() as add,
        ):
            tests = paired_tests(items, family, clusters)
            for k in todo:
                if k in refused:
                    row = untested_row(*jobs[k], refused[k])
                elif k not in unequal:
                    row = comparison_row(*jobs[k], next(tests))
                elif equalise:
                    row = _equalised(*jobs[k], unequal[k], frame, draws, seed)
                else:
                    row = row_without_verdict(
                        *jobs[k], f"{unequal[k]} (--equalise compares)"
                    )
                if isinstance(
                    metric := frame.metric(jobs[k][0].one, jobs[k][1]), StoredMetric
                ):
                    # Never kept: the component says more of its numbers, once it is
                    # installed.
                    notes = (row.note, "" if k in refused else metric.note)
                    rows_without_component[keys[k]] = replace(
                        row, note="; ".join(filter(None, notes))
                    )
                else:
                    add(keys[k], row)
                advance(1)
    found = {**store.rows, **rows_without_component}
    rows = [
        replace(found[key], signature=pair.signature(name))
        for key, (pair, name) in zip(keys, jobs)
    ]
    if not anytime:
        return rows
    return [
        row
        if k in unequal | refused
        else replace(row, anytime=frame.anytime(*jobs[k], seed))
        for k, row in enumerate(rows)
    ]


def row_name(pair: Pair, metric: str) -> str:
    """Return the name of a row in ``comparisons.json``."""
    return f"{pair.labels[0]}|{pair.labels[1]}|{metric}"


def adjusted(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons with p-values adjusted by Holm over the pairs of a metric and
    by Benjamini-Hochberg over all, and ``better``.

    Numbers that have no common scale (``sizes_differ``) do not count, and have no
    adjusted p-values.
    """
    p_values = [
        nan if row.p_value is None or row.sizes_differ else row.p_value for row in rows
    ]
    discovery = benjamini_hochberg_adjusted(p_values)
    family = np.full(len(rows), nan)
    for metric in dict.fromkeys(row.metric for row in rows):
        positions = [k for k, row in enumerate(rows) if row.metric == metric]
        family[positions] = holm([p_values[k] for k in positions])
    adjusted_rows = [
        replace(row, p_holm=finite(h), p_bh=finite(d))
        for row, h, d in zip(rows, family, discovery)
    ]
    return [with_verdict(row) for row in adjusted_rows]


def select_metrics(pair: Pair, metrics: Sequence[str] | None) -> list[str]:
    common = pair.metrics
    if not common:
        raise HarnessError(f"{' and '.join(pair.labels)} share no metric of captions")
    labels = labels_by_spelling(common)
    matches = (
        common
        if metrics is None
        else [labels.get(name, labels.get(spelling(name))) for name in metrics]
    )
    logs = [run for run in (pair.one.run, pair.other.run) if isinstance(run, ScoreLog)]
    for name, label in zip(metrics or common, matches):
        if label is None:
            values = next(
                (
                    f"'{name}' has no scores: {log.unread[name]}"
                    for log in logs
                    if name in log.unread
                ),
                "",
            )
            raise (
                HarnessError(values)
                if values
                else HarnessError.of_name(
                    "there is no metric", name, common, "both systems have"
                )
            )
    selected = [label for label in matches if label is not None]
    for log in logs:
        log.refuse(selected)
    return selected


def _equalised(
    pair: Pair, metric: str, sizes: str, frame: Frame, draws: int, seed: int
) -> Comparison:
    """Return the comparison of two systems of different set sizes on subsets of equal
    size.

    A metric that reads more of an example than the texts, which alone are stored with a
    run, has no verdict; the note says what it lacks.
    """
    instance = frame.item(pair, metric).metric
    try:
        outcome = equalised_tests(
            instance, pair.a.caption_sets(), pair.b.caption_sets(), draws, seed
        )
    except HarnessError as error:
        return row_without_verdict(
            pair, metric, f"{sizes}, and subsets cannot be scored: {error}"
        )
    note = (
        f"equalised: sets of equal size, mean of {SUBSETS} random subsets of the "
        "larger ones"
    )
    return comparison_row(
        pair,
        metric,
        replace(outcome, note="; ".join(filter(None, (note, outcome.note)))),
    )
