"""Paired comparisons of systems of one run or of two: tests of the number that the
table reports, and of per-example scores.

Systems whose set sizes differ can be compared on random subsets of the larger sets
within each example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import erfc, nan, sqrt
from pathlib import Path
from typing import cast

import numpy as np

from harness.analysis.anytime import AnytimeTest, anytime_test
from harness.analysis.comparisons import (
    Comparison,
    Comparisons,
    StoredComparisons,
    finite,
    metric_comparisons,
    with_verdict,
)
from harness.analysis.paired_family import (
    PairedMetric,
    PairedTests,
    SystemData,
    paired_tests,
)
from harness.analysis.pairs import (
    ComparedRun,
    Pair,
    differences_of_runs,
    log_notes,
    open_sides,
    pairs,
    pairs_against,
    state_difference,
)
from harness.analysis.score_declarations import Bounds, DeclaredScores, declare_scores
from harness.analysis.score_logs import ScoreLog
from harness.contracts import (
    CaptionSet,
    CorpusMetric,
    Metric,
    Objects,
    place_statistics,
)
from harness.errors import HarnessError
from harness.registry.catalogue import spelling
from harness.registry.display_names import labels_by_spelling
from harness.run.finished import Run
from harness.run.progress import bar
from harness.run.score import score_sets
from harness.run.sequences import random_order
from harness.run.stored_metrics import StoredMetric, is_mean_of_scores, read_metric
from harness.rundir.samples import System
from harness.stats.bootstrap import number_clusters
from harness.stats.draws import DrawFamily
from harness.stats.multiplicity import benjamini_hochberg_adjusted, holm
from harness.stats.name_order import name_key
from harness.stats.resampled_difference import ResampledDifference
from harness.stats.seeds import derive

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
        and ``note`` says why (:func:`harness.analysis.compare.equalised_tests`).
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
                    row = _untested(*jobs[k], refused[k])
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


# --------------------------------------------------------------------------- data
class Frame:
    """Examples of all systems in the order of their ids, with the statistics and scores
    of each system and metric on them.
    """

    def __init__(self) -> None:
        self.examples: dict[str, int] = {}
        self._systems: set[System] = set()
        self._clusters: dict[str, str] = {}
        self._order: np.ndarray | None = None
        self._data: dict[tuple[int, str, str], SystemData] = {}
        self._metrics: dict[tuple[int, str], Metric] = {}

    def add(self, pair: Pair) -> None:
        """Add the examples of the runs of a pair."""
        column = pair.one.run.provenance.spec.get(
            "cluster"
        ) or pair.other.run.provenance.spec.get("cluster")
        for system in (*pair.one.run.samples.systems, *pair.other.run.samples.systems):
            if system in self._systems:
                continue
            for example in system.examples:
                self.examples.setdefault(example, len(self.examples))
            self._systems.add(system)
            if column:
                self._clusters.update(
                    zip(system.examples, system.clusters(str(column)))
                )
        # Resamples and assignments are drawn in the order of the ids, whatever the
        # order of a file.
        self.examples = {
            example: k for k, example in enumerate(sorted(self.examples, key=name_key))
        }

    def clusters(self) -> np.ndarray | None:
        """Return the number of the cluster of each example, shape (B,); None for
        examples that are independent.
        """
        if not self._clusters:
            return None
        return number_clusters(
            np.array([self._clusters[example] for example in self.examples])
        )

    def item(self, pair: Pair, metric: str) -> PairedMetric:
        """Return a metric of a pair with the data of both systems."""
        instance = self.metric(pair.one, metric)
        sides = [(pair.one, pair.a), (pair.other, pair.b)]
        return PairedMetric(
            instance,
            *(self._system(side, system, metric, instance) for side, system in sides),
        )

    def anytime(self, pair: Pair, metric: str, seed: int) -> AnytimeTest:
        """Return the confidence sequence of a metric of a pair."""
        if self._order is None:  # one order serves all pairs and metrics
            units = (
                dict.fromkeys(self._clusters[example] for example in self.examples)
                if self._clusters
                else self.examples
            )
            self._order = random_order(list(units), seed)
        return anytime_test(self.item(pair, metric), self._order, self.clusters())

    def state_difference(self, pair: Pair, metric: str) -> str:
        """Return the fitted state of a metric that differs between the runs of a pair;
        empty where its numbers compare.
        """
        runs = pair.one.run, pair.other.run
        return (
            ""
            if runs[0] is runs[1]
            else state_difference(*runs, self.metric(pair.one, metric))
        )

    def metric(self, side: ComparedRun, label: str) -> Metric:
        """Return the metric of a label of a run;
        one that is not installed reads the stored scores.
        """
        key = (id(side), label)
        if key not in self._metrics:
            self._metrics[key] = (
                side.run.directed[label].metric
                if isinstance(side.run, ScoreLog)
                else read_metric(side.run, label)
            )
        return self._metrics[key]

    def refusal(self, pair: Pair, label: str) -> str:
        """Return why a metric that is not installed here cannot be compared;
        empty where it can.
        """
        metric = self.metric(pair.one, label)
        if not isinstance(metric, StoredMetric):
            return ""
        sides = ((pair.one, pair.a), (pair.other, pair.b))
        are_means = all(
            is_mean_of_scores(side.record(system, label), system, label)
            for side, system in sides
        )
        return "" if are_means else metric.refusal

    def _system(
        self, side: ComparedRun, system: System, metric: str, instance: Metric
    ) -> SystemData:
        key = (id(side), f"{system.model}\0{system.decoding_key}", metric)
        if key not in self._data:
            rows = np.array(
                [self.examples[example] for example in system.examples], dtype=np.int64
            )
            scores = np.full(len(self.examples), np.nan)
            if metric in system.table.metrics:
                scores[rows] = system.scores(metric)
            if isinstance(instance, StoredMetric):
                self._data[key] = SystemData(scores[:, None], scores)
                return self._data[key]
            record = side.record(system, metric)
            stats = None
            values = side.run.statistics(record) if record is not None else None
            # Runs of an earlier version have rows of numbers for a corpus metric, which
            # it cannot read.
            is_readable = isinstance(values, Objects) or not isinstance(
                instance, CorpusMetric
            )
            if values is not None and is_readable and len(values) == len(rows):
                stats = place_statistics([(rows, values)], len(self.examples))
            self._data[key] = SystemData(stats, scores)
        return self._data[key]


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


def row_without_verdict(pair: Pair, metric: str, reason: str) -> Comparison:
    """Return the comparison of two numbers that have no common scale: the numbers,
    and why they do not compare.
    """
    return replace(_untested(pair, metric, f"no verdict: {reason}"), sizes_differ=True)


def _untested(pair: Pair, metric: str, note: str) -> Comparison:
    """Return the comparison of two numbers that are not tested: the numbers,
    and why.
    """
    a = pair.one.record(pair.a, metric)
    b = pair.other.record(pair.b, metric)
    common = sum(name in pair.b.row_of for name in pair.a.examples)
    row = comparison_row(pair, metric, PairedTests(None, note, None, common, 0, 0, 0))
    return replace(row, a=a and finite(a.value), b=b and finite(b.value))


def comparison_row(pair: Pair, metric: str, outcome: PairedTests) -> Comparison:
    """Return the comparison of a pair by a metric from its tests."""
    record = pair.one.record(pair.a, metric)
    reported = outcome.reported
    signs = outcome.signs
    row = Comparison(
        metric=metric,
        system_a=pair.labels[0],
        system_b=pair.labels[1],
        higher_is_better=record.higher_is_better if record is not None else None,
        note="; ".join(filter(None, (outcome.note, *pair.score_notes(metric)))),
        n=outcome.n,
        left_out=len(set(pair.a.examples) | set(pair.b.examples)) - outcome.n,
        sign_p_value=signs.p_randomisation if signs else None,
        a_larger=outcome.a_larger,
        b_larger=outcome.b_larger,
        ties=outcome.ties,
    )
    if reported is None:
        return row
    numbers = {
        name: finite(getattr(reported, name))
        for name in ("a", "b", "difference", "p_value", "p_bootstrap")
    }
    return replace(
        row, **numbers, ci95=outcome.ends, draws=reported.draws, exact=reported.exact
    )


SUBSETS = 20
"""Number of random subsets of each example over which a number is averaged."""
CORPUS_DRAWS = 200
"""Maximum number of weight vectors for each subset of a corpus metric:
they give a standard error only.
"""


def equalised_tests(
    metric: Metric,
    a: Sequence[CaptionSet],
    b: Sequence[CaptionSet],
    draws: int,
    seed: int,
) -> PairedTests:
    """Return the tests of two systems after both have the same number of candidates and
    references in each example.

    Of each example the side with fewer references gives those of both, and the side
    with more candidates is cut to the number of the other by :data:`SUBSETS` random
    subsets, determined by ``seed`` and the id. A number of sums is tested once, on
    statistics averaged over the subsets. A corpus metric is tested for each subset; its
    difference is the mean, with the variance of one subset plus that of a mean over
    subsets, and a normal p-value.

    Parameters
    ----------
    metric : Metric
        The metric.
    a, b : sequence of CaptionSet
        Caption sets of both systems; examples that one of them lacks are left out.
    draws, seed : int
        Weight vectors of each test; seed of these and of the subsets.
    """
    sets_b = {item.id: item for item in b}
    pairs = [
        (item, sets_b[item.id])
        for item in sorted(a, key=lambda item: name_key(item.id))
        if item.id in sets_b
    ]
    references = [
        min(one.references, other.references, key=len) for one, other in pairs
    ]
    subsets: list[list[SystemData]] = []
    for number in range(SUBSETS):
        sets = [
            CaptionSet(
                side.id,
                _subset(
                    side, min(len(one.candidates), len(other.candidates)), number, seed
                ),
                texts,
            )
            for system in (0, 1)
            for (one, other), texts in zip(pairs, references)
            for side in [(one, other)[system]]
        ]
        (scored,) = score_sets([metric], sets, references=references)
        scores = scored.per_example(metric)
        halves = slice(0, len(pairs)), slice(len(pairs), None)
        subsets.append(
            [SystemData(scored.stats[half], scores[half]) for half in halves]
        )
    if not isinstance(subsets[0][0].stats, Objects):
        sides = [_averaged([subset[side] for subset in subsets]) for side in (0, 1)]
        (tests,) = paired_tests(
            [PairedMetric(metric, *sides)], DrawFamily(len(pairs), draws, seed)
        )
        return tests
    family = DrawFamily(len(pairs), min(draws, CORPUS_DRAWS), seed)
    return _pooled(
        list(
            paired_tests([PairedMetric(metric, *subset) for subset in subsets], family)
        )
    )


def _subset(item: CaptionSet, count: int, number: int, seed: int) -> tuple[str, ...]:
    """Return a random subset of the candidates of an example in their order."""
    if count == len(item.candidates):
        return item.candidates
    generator = np.random.default_rng([derive(seed, item.id), number])
    positions = np.sort(generator.permutation(len(item.candidates))[:count])
    return tuple(item.candidates[int(index)] for index in positions)


def _averaged(subsets: Sequence[SystemData]) -> SystemData:
    """Return the mean statistics and scores over subsets; an example that is undefined
    for one subset is undefined.
    """
    rows = np.stack([cast(np.ndarray, subset.stats) for subset in subsets])
    stats = np.mean(rows, axis=0)
    stats[np.isnan(rows[:, :, 0]).any(axis=0)] = np.nan
    return SystemData(stats, np.mean([subset.scores for subset in subsets], axis=0))


def _pooled(subsets: Sequence[PairedTests]) -> PairedTests:
    """Return the tests of a corpus metric over subsets."""
    first = subsets[0]
    reported = [tests.reported for tests in subsets if tests.reported is not None]
    if len(reported) < len(subsets):
        return first
    a, b, difference = (
        float(np.mean([getattr(result, name) for result in reported]))
        for name in ("a", "b", "difference")
    )
    # A subset on which the systems are equal with every part left out has no interval,
    # and no variance.
    halves = [
        (result.ci95[1] - result.ci95[0]) / (2 * 1.96) if result.ci95 else 0.0
        for result in reported
        if result.ci95 or not result.difference
    ]
    between = float(np.var([result.difference for result in reported], ddof=1))
    # The mean over subsets varies over examples at most as one subset does, and by the
    # finite number of subsets.
    error = (
        sqrt(float(np.mean(np.square(halves))) + between / len(reported))
        if halves
        else 0.0
    )
    nan = float("nan")
    untested = len(halves) < len(reported)
    if untested or not error:
        pooled = ResampledDifference(
            a,
            b,
            difference,
            None,
            nan,
            nan,
            0,
            False,
            nan if untested or difference else 1.0,
        )
    else:
        ends = (difference - 1.96 * error, difference + 1.96 * error)
        p_value = erfc(abs(difference) / error / sqrt(2))
        pooled = ResampledDifference(
            a, b, difference, ends, nan, nan, reported[0].draws, False, p_value
        )
    return replace(first, reported=pooled)
