"""Paired comparisons of systems of one run or of two: tests of the number that the
table reports, and of per-example scores.

Systems whose set sizes differ can be compared on random subsets of the larger sets
within each example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from harness.analysis.paired_family import paired_tests
from harness.analysis.pairs import (
    ComparedRun,
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
from harness.spec.task_kinds import load_kind
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
    declared = DeclaredScores(lower_is_better, higher_is_better, bounds)
    sides = declare_scores(opened, declared)

    # The systems of a run of judgments are its metrics, which it has tested itself.
    kind = next(filter(None, (side.run.provenance.kind for side in sides)), "")
    if kind:
        return _compare_within(kind, sides, baseline, metrics, equalise=equalise)

    compared = pairs(sides) if baseline is None else pairs_against(sides, baseline)
    forced = _find_differences(sides, compared, force=force, equalise=equalise)
    rows = compare_pairs(
        compared,
        metrics=metrics,
        equalise=equalise,
        anytime=anytime,
        draws=draws,
        seed=seed,
        show=show,
    )
    if forced:
        rows = [replace(row, forced=forced) for row in rows]
    return Comparisons(adjusted(rows), log_notes(sides, metrics))


def _compare_within(
    kind: str,
    sides: Sequence[ComparedRun],
    baseline: str | None,
    metrics: Sequence[str] | None,
    *,
    equalise: bool,
) -> Comparisons:
    """Return the comparisons that runs of another kind of task have made."""
    if equalise:
        raise HarnessError(
            "equalise=True belongs to systems of models; "
            f"a run of {kind} compares metrics",
            parameter="equalise",
        )
    runs = [side.run for side in sides]
    return Comparisons(load_kind(kind).compare(runs, baseline, metrics))


def _find_differences(
    sides: Sequence[ComparedRun],
    compared: Sequence[Pair],
    *,
    force: bool,
    equalise: bool,
) -> list[str]:
    """Return the differences of two runs in spite of which they are compared; raise
    :class:`HarnessError` for one without ``force``.
    """
    differences = differences_of_runs(
        [side.run for side in sides],
        [side.name for side in sides],
        [record for pair in compared for record in pair.records],
    )
    if equalise:  # subsets have equally many references
        differences = [text for text in differences if " references in " not in text]
    if differences and not force:
        raise HarnessError(
            f"{differences[0]}; force=True compares them all the same",
            parameter="force",
        )
    return differences


@dataclass(frozen=True)
class _ComparedMetric:
    """One metric of a pair, to be compared."""

    pair: Pair
    metric: str
    unequal: str
    """Set sizes or fitted state that differ; empty where the numbers compare."""
    key: str
    """Name of its row in ``comparisons.json``."""


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
        first = compared[0]
        sides = zip(first.labels, (first.one, first.other))
        names = " and ".join(f"{label} ({side.name})" for label, side in sides)
        raise HarnessError(f"{names} share no example")

    frame = Frame()
    selected: list[tuple[Pair, str]] = []
    for pair in compared:
        frame.add(pair)
        selected += [(pair, name) for name in select_metrics(pair, metrics)]
    jobs = [_job(pair, name, frame, equalise=equalise) for pair, name in selected]

    runs = [side.run for pair in compared for side in (pair.one, pair.other)]
    store = StoredComparisons.of(runs, draws, seed)
    missing = [job for job in jobs if job.key not in store.rows]
    # Metrics are created for what is asked of them alone: kept rows need none.
    refused = {
        job.key: reason
        for job in (jobs if anytime else missing)
        if not job.unequal and (reason := frame.refusal(job.pair, job.metric))
    }
    unkept: dict[str, Comparison] = {}
    if missing:
        with (
            bar("comparisons", len(missing), show=show, unit="tests") as advance,
            store.adding() as add,
        ):
            for job, row in zip(
                missing,
                _compute_rows(missing, refused, frame, draws, seed, equalise=equalise),
            ):
                metric = frame.metric(job.pair.one, job.metric)
                if isinstance(metric, StoredMetric):
                    # Never kept: the component says more of its numbers, once it is
                    # installed.
                    notes = (row.note, "" if job.key in refused else metric.note)
                    note = "; ".join(filter(None, notes))
                    unkept[job.key] = replace(row, note=note)
                else:
                    add(job.key, row)
                advance(1)

    rows: list[Comparison] = []
    for job in jobs:
        row = unkept[job.key] if job.key in unkept else store.rows[job.key]
        row = replace(row, signature=job.pair.signature(job.metric))
        if anytime and not job.unequal and job.key not in refused:
            row = replace(row, anytime=frame.anytime(job.pair, job.metric, seed))
        rows.append(row)
    return rows


def _job(pair: Pair, metric: str, frame: Frame, *, equalise: bool) -> _ComparedMetric:
    """Return a metric of a pair with what its numbers differ in but for the captions.

    Rows of equal sizes are the same with and without ``equalise``; the others are kept
    side by side.
    """
    unequal = pair.size_difference(metric) or frame.state_difference(pair, metric)
    suffix = EQUALISED if equalise and unequal else ""
    return _ComparedMetric(pair, metric, unequal, row_name(pair, metric) + suffix)


def _compute_rows(
    jobs: Sequence[_ComparedMetric],
    refused: Mapping[str, str],
    frame: Frame,
    draws: int,
    seed: int,
    *,
    equalise: bool,
) -> Iterator[Comparison]:
    """Yield the comparison of each job; ``refused``: key of a row -> reason why its
    metric cannot be compared here.
    """
    clusters = frame.clusters()
    units = len(frame.examples) if clusters is None else int(clusters.max()) + 1
    items = [
        frame.item(job.pair, job.metric)
        for job in jobs
        if not job.unequal and job.key not in refused
    ]
    tests = paired_tests(items, DrawFamily(units, draws, seed), clusters)

    for job in jobs:
        if job.key in refused:
            yield untested_row(job.pair, job.metric, refused[job.key])
        elif not job.unequal:
            yield comparison_row(job.pair, job.metric, next(tests))
        elif equalise:
            yield _compare_subsets(job, frame, draws, seed)
        else:
            reason = f"{job.unequal} (equalise=True compares)"
            yield row_without_verdict(job.pair, job.metric, reason)


def _compare_subsets(
    job: _ComparedMetric, frame: Frame, draws: int, seed: int
) -> Comparison:
    """Return the comparison of two systems of different set sizes on subsets of equal
    size.

    A metric that reads more of an example than the texts, which alone are stored with a
    run, has no verdict; the note says what it lacks.
    """
    pair = job.pair
    metric = frame.item(pair, job.metric).metric
    try:
        outcome = equalised_tests(
            metric, pair.a.caption_sets(), pair.b.caption_sets(), draws, seed
        )
    except HarnessError as error:
        reason = f"{job.unequal}, and subsets cannot be scored: {error}"
        return row_without_verdict(pair, job.metric, reason)

    note = (
        f"equalised: sets of equal size, mean of {SUBSETS} random subsets of the "
        "larger ones"
    )
    notes = "; ".join(filter(None, (note, outcome.note)))
    return comparison_row(pair, job.metric, replace(outcome, note=notes))


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

    # Holm's family are the pairs of one metric: a reader compares systems by one.
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
    """Return the labels of the named metrics of a pair, by default of all that both
    systems have; raise :class:`HarnessError` for one without scores.
    """
    common = pair.metrics
    if not common:
        raise HarnessError(f"{' and '.join(pair.labels)} share no metric of captions")
    labels = labels_by_spelling(common)
    names = common if metrics is None else metrics
    logs = [run for run in (pair.one.run, pair.other.run) if isinstance(run, ScoreLog)]

    selected: list[str] = []
    for name in names:
        label = (
            name if metrics is None else labels.get(name, labels.get(spelling(name)))
        )
        if label is None:
            for log in logs:
                if name in log.unread:
                    raise HarnessError(f"'{name}' has no scores: {log.unread[name]}")
            raise HarnessError.of_name(
                "there is no metric", name, common, "both systems have"
            )
        selected.append(label)
    for log in logs:
        log.refuse(selected)
    return selected
