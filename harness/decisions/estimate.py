"""Mean human scores of systems, and their differences, from few labels and the scores
of metrics or judges on all examples.

The examples to label are drawn at random, or from strata of a metric's scores, each
with a probability that the estimate reads.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path

import numpy as np

from harness.analysis.score_declarations import Bounds
from harness.contracts import Values
from harness.decisions.human_scores import HumanScore, HumanScores, LabelPlan
from harness.decisions.statistics.bounded_labels import bounded_labels_interval
from harness.decisions.statistics.prediction_powered import powered_mean
from harness.errors import HarnessError, InputError, counted
from harness.files.columns import ID_COLUMNS
from harness.files.record_files import read_records
from harness.files.records import Record
from harness.judgments.fields import number
from harness.registry.catalogue import spelling
from harness.results import ComparedRun, Run, System
from harness.rundir.format import file_digest, to_json
from harness.stats.bootstrap import number_clusters

COLUMNS = {
    "id": ("example", *ID_COLUMNS),
    "score": ("score", "human_score", "rating", "label"),
    "system": ("system", "model"),
    "probability": ("probability",),
    "stratum": ("stratum",),
}
"""Usual names of the columns of labels, in order of preference."""
FEWEST_LABELS = 3
"""Smallest number of labels from which there is an estimate."""
STRATA = 5
"""Default number of strata of a plan."""
Labels = Mapping[str, Mapping[tuple[str, str], float]]
"""``score``, ``probability`` or ``stratum`` -> (system, example) -> number."""


def estimate(
    run: str | Path | Run,
    labels: str | Path,
    *,
    by: Sequence[str],
    baseline: str | None = None,
    population: bool = False,
    bounds: Bounds | None = None,
) -> HumanScores:
    """Return the estimated mean human score of each system with labels, then their
    differences, and notes on them.

    Parameters
    ----------
    run : str, Path or Run
        Run directory, ``RUN::MODEL``, or run.
    labels : str or Path
        File with columns ``id``, ``score``, ``system`` where the run has several, and
        ``probability`` and ``stratum`` of a plan. Several rows of one caption are
        averaged, rows without a score left out.
    by : sequence of str
        Metrics or judges of the run whose scores predict the labels.
    baseline : str, optional
        System that the others are compared with; default: all pairs.
    population : bool
        Estimate means over the examples of the run alone; default: over the population
        that they are drawn from.
    bounds : tuple of float, optional
        Smallest and largest score of the scale: the labels alone then have an interval
        that is valid at every number of labels.

    Raises
    ------
    HarnessError
        The labels are of other examples or systems, outside of the bounds, fewer than
        3, or a metric was fitted on them.
    """
    if bounds is not None:
        _check_bounds(bounds)
    side = ComparedRun.open(run)
    metrics = _predictors(side, by)

    human = _read_labels(labels, side, bounds)
    _check_independence(side, metrics, labels)
    systems = {system for system, _ in human["score"]}
    names = [name for name in map(side.label, side.systems) if name in systems]
    for name in [baseline] if baseline else names[:1] or [side.name]:
        if name not in names:
            raise HarnessError.of_name(
                f"{labels} has no labels of", name, names, "it has those of"
            )

    strata = _strata(side, human["stratum"], metrics[0], str(labels))
    estimates = _Estimates(side, metrics, human, strata, population, bounds)
    notes: list[str] = []
    if not human["probability"]:
        notes.append(
            "labels without probabilities: taken as a simple random sample of the "
            "examples"
        )

    rows = [estimates.of([name]) for name in names]
    pairs = list(itertools.combinations(names, 2))
    if baseline:
        pairs = [(name, baseline) for name in names if name != baseline]
    for pair in pairs:
        try:
            rows.append(estimates.of(pair))
        except InputError as error:  # few labels of the same examples
            notes.append(str(error))

    notes += _missing_intervals(rows)
    if bounds is None and estimates.can_be_bounded(rows):
        notes.append(
            "bounds=(LOW, HIGH), the ends of the scale of the scores, "
            "gives the labels alone an interval at every number of labels"
        )
    return HumanScores(rows, notes, tuple(by))


def _check_bounds(bounds: Bounds) -> None:
    """Raise :class:`InputError` unless the bounds are finite and ascend."""
    low, high = bounds
    if not (isfinite(low) and isfinite(high) and low < high):
        raise InputError(
            f"the bounds are {low:g} and {high:g}; expected the smallest, "
            "then the largest score of the scale"
        )


def _missing_intervals(rows: Sequence[HumanScore]) -> list[str]:
    """Return a note for each reason for which some systems have no interval."""
    titles: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        reasons = row.powered.reason, row.classical.reason
        if any(reasons):
            titles.setdefault(reasons, []).append(row.system)

    notes: list[str] = []
    for (powered, classical), names in titles.items():
        reasons = [f"no interval: {powered}"] if powered else []
        if classical and classical != powered:
            reasons.append(f"labels alone: no interval: {classical}")
        notes.append(f"{', '.join(names)}: {'; '.join(reasons)}")
    return notes


@dataclass(frozen=True)
class _Estimates:
    """Labels and predictions from which systems are estimated."""

    side: ComparedRun
    metrics: Sequence[str]
    """Labels of the metrics that predict the scores."""
    human: Labels
    strata: Mapping[str, int]
    """Example -> number of its stratum; empty for one stratum."""
    finite: bool
    """Estimate means over the examples of the run alone."""
    bounds: Bounds | None
    """Smallest and largest score of the scale."""

    def of(self, names: Sequence[str]) -> HumanScore:
        """Return the estimate of one system, or of the first minus the second."""
        by_label = {self.side.label(system): system for system in self.side.systems}
        systems = [by_label[name] for name in names]
        examples = [
            example for example in systems[0].examples if example in systems[-1].row_of
        ]
        rows = [[system.row_of[example] for example in examples] for system in systems]
        signs = np.array([1.0, -1.0])[: len(systems)]
        scores = self.human["score"]
        labels = signs @ np.array(
            [[scores.get((name, key), np.nan) for key in examples] for name in names]
        )
        predictions = np.stack(
            [signs @ self._predict(systems, rows, metric) for metric in self.metrics],
            axis=1,
        )
        title = " - ".join(names)
        count = int(np.sum(~np.isnan(labels)))
        if count < FEWEST_LABELS:
            raise InputError(
                f"{title}: {counted(count, 'label')} of the same examples; "
                f"expected at least {FEWEST_LABELS}"
            )

        # A plan draws examples, not captions: both systems have one probability.
        drawn = self.human["probability"]
        probabilities = strata = None
        if drawn:
            of_first = [drawn.get((names[0], key), np.nan) for key in examples]
            probabilities = np.array(of_first)
        if self.strata:
            strata = np.array([self.strata[example] for example in examples])
        of_labels = partial(
            powered_mean,
            labels,
            predictions,
            probabilities=probabilities,
            clusters=self._clusters(systems[0], rows[0]),
            finite=self.finite,
        )
        powered = of_labels(strata=strata)
        if np.isnan(powered.standard_error):
            raise InputError(
                f"{title}: {counted(count, 'label')} are too few for their "
                "strata, clusters and metrics"
            )
        # No weight on the predictions: the mean of the labels.
        classical = of_labels(tuning=np.zeros(len(self.metrics)))

        if self.bounds is not None:
            low, high = self.bounds
            if len(systems) > 1:
                low, high = low - high, high - low
            interval, reason = bounded_labels_interval(
                labels,
                low,
                high,
                probabilities=probabilities,
                strata=strata,
                clusters=self._clusters(systems[0], rows[0]),
                finite=self.finite,
            )
            classical = replace(classical, ci95=interval, reason=reason)
            if powered.ci95 is not None:
                ends = [min(max(end, low), high) for end in powered.ci95]
                powered = replace(powered, ci95=(ends[0], ends[1]))
        return HumanScore(title, powered, classical, count, len(examples))

    def can_be_bounded(self, rows: Sequence[HumanScore]) -> bool:
        """Return True where bounds of the scale would give labels alone an interval
        that they lack: labels that are alike, within strata or all.
        """
        if self.strata:
            alike = not self.side.run.provenance.spec.get("cluster")
        else:
            alike = len(set(self.human["probability"].values())) < 2
        return alike and any(row.classical.ci95 is None for row in rows)

    def _predict(
        self, systems: Sequence[System], rows: Sequence[Sequence[int]], metric: str
    ) -> np.ndarray:
        """Return the predictions of systems at some rows, shape (S, B)."""
        return np.stack(
            [_predict(system, metric)[at] for system, at in zip(systems, rows)]
        )

    def _clusters(self, system: System, rows: Sequence[int]) -> np.ndarray | None:
        """Return the number of the cluster of each example, shape (B,); None for
        examples that are independent.
        """
        column = self.side.run.provenance.spec.get("cluster")
        if not column:
            return None
        return number_clusters(np.array(system.clusters(str(column)))[rows])


def label_plan(
    run: str | Path | Run,
    budget: int,
    *,
    by: str | None = None,
    strata: int = STRATA,
    seed: int = 0,
) -> LabelPlan:
    """Return the captions of ``budget`` random examples to label,
    those of all systems for each example.

    Parameters
    ----------
    run : str, Path or Run
        Run directory, ``RUN::MODEL``, or run.
    budget : int
        Number of examples.
    by : str, optional
        Metric or judge whose mean score over the systems forms strata; default: one
        stratum.
    strata : int
        Number of strata, of equal size where scores differ; each has its share of the
        budget.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of mappings
        ``id``, ``system``, ``caption`` (several are joined by `` | ``), ``probability``
        with which the example was drawn, ``stratum`` (the smallest prediction of its
        stratum), and ``score``, which is empty.

    Raises
    ------
    HarnessError
        The budget is larger than the number of examples, or gives a stratum fewer than
        two.
    """
    side = ComparedRun.open(run)
    means = _mean_predictions(side, _predictors(side, [by])[0] if by else None)
    examples = list(means)
    values = np.array(list(means.values()))
    shares = np.arange(max(strata, 1)) / max(strata, 1)
    bounds = np.unique(np.quantile(values, shares, method="higher"))
    stratum = np.searchsorted(bounds, values, side="right") - 1

    sizes = np.bincount(stratum)
    counts = _share_budget(budget, sizes)
    rng = np.random.default_rng([seed, len(values)])
    drawn = np.concatenate(
        [
            rng.permutation(np.flatnonzero(stratum == k))[:count]
            for k, count in enumerate(counts)
        ]
    )
    captions = {system: system.caption_sets() for system in side.systems}
    rows: list[Values] = []
    for k in sorted(map(int, drawn)):
        for system in side.systems:
            item = captions[system][system.row_of[examples[k]]]
            rows.append(
                {
                    "id": examples[k],
                    "system": side.label(system),
                    "caption": " | ".join(item.candidates),
                    "probability": float((counts / sizes)[stratum[k]]),
                    "stratum": float(bounds[stratum[k]]),
                    "score": "",
                }
            )
    return LabelPlan(rows)


def _share_budget(budget: int, sizes: np.ndarray) -> np.ndarray:
    """Return the number of examples to label in each stratum, by the sizes of these,
    shape (K,); raise :class:`HarnessError` for a budget that is too small or too large.
    """
    # Rounded sums, so that the counts of the strata have the budget as their sum.
    total = int(sizes.sum())
    ends = np.rint(np.cumsum(sizes) * budget / total).astype(int)
    counts = np.diff(ends, prepend=0)
    if budget > total or counts.min() < 2:
        raise HarnessError(
            f"budget is {budget}; expected {2 * len(sizes)}, two for each stratum, "
            f"to {total}, all examples",
            parameter="budget",
        )
    return counts


def _predictors(side: ComparedRun, names: Sequence[str]) -> list[str]:
    """Return the labels of metrics with scores per example; raise :class:`HarnessError`
    with the nearest for an unknown one.
    """
    labels = {spelling(label): label for label in side.run.samples.metrics}
    for name in names:
        if spelling(name) not in labels:
            raise HarnessError.of_name(
                f"{side.name} has no scores per example of",
                name,
                labels.values(),
                "it has those of",
            )
    return [labels[spelling(name)] for name in names]


def _predict(system: System, metric: str) -> np.ndarray:
    """Return the scores (B,) of a metric, undefined ones replaced by the mean of the
    others.
    """
    scores = system.scores(metric)
    defined = np.isfinite(scores)
    return np.where(defined, scores, scores[defined].mean() if defined.any() else 0.0)


def _mean_predictions(side: ComparedRun, metric: str | None) -> dict[str, float]:
    """Return example -> mean prediction of the systems, zero without a metric, for the
    examples that all of them have.
    """
    shared = [
        name
        for name in side.systems[0].examples
        if all(name in system.row_of for system in side.systems)
    ]
    if metric is None:
        return dict.fromkeys(shared, 0.0)
    columns = [
        _predict(system, metric)[[system.row_of[name] for name in shared]]
        for system in side.systems
    ]
    return dict(zip(shared, np.mean(columns, axis=0).tolist()))


def _strata(
    side: ComparedRun, stratum: Mapping[tuple[str, str], float], metric: str, path: str
) -> dict[str, int]:
    """Return example -> number of its stratum; raise :class:`InputError` where the
    labels have other strata than the metric's.
    """
    bounds = sorted(set(stratum.values()))
    if len(bounds) < 2:
        return {}

    means = _mean_predictions(side, metric)
    # a spreadsheet may have rounded the bounds
    margin = 1e-9 * (bounds[-1] - bounds[0])
    numbers = {
        name: bisect.bisect_right(bounds, value + margin) - 1
        for name, value in means.items()
    }
    agree = all(
        bounds[numbers.get(example, -1)] == bound
        for (_, example), bound in stratum.items()
    )
    if min(numbers.values()) < 0 or not agree:
        raise InputError(
            f"its strata are not those of '{metric}' in {side.name}: "
            "give run and metric of the plan",
            path,
        )
    return numbers


def _read_labels(path: str | Path, side: ComparedRun, bounds: Bounds | None) -> Labels:
    """Return the numbers of a file of labels, the mean of several rows of a caption.

    Raises :class:`InputError` with the place of a mistake.
    """
    records = list(read_records(path, "file of labels"))
    present = list(records[0].fields) if records else []
    columns = {
        role: next((name for name in names if name in present), "")
        for role, names in COLUMNS.items()
    }

    # With one system its name may be missing.
    systems = {side.label(system): system for system in side.systems}
    for role in ("id", "score", "system")[: 2 if len(systems) == 1 else 3]:
        if not columns[role]:
            raise InputError(
                f"no column '{role}'; found {', '.join(present) or 'no row'}", str(path)
            )

    numbers: dict[str, dict[tuple[str, str], list[float]]] = {
        "score": {},
        "probability": {},
        "stratum": {},
    }
    for record in records:
        cells = {
            role: record.fields.get(column)
            for role, column in columns.items()
            if column
        }
        name = str(cells.get("system", next(iter(systems))))
        example = str(cells["id"])
        if cells["score"] in (None, ""):  # a row of a plan that nobody has filled in
            continue
        if name not in systems:
            raise InputError.of_name(
                f"{side.name} has no system", name, systems, "there are", record.where
            )
        if example not in systems[name].row_of:
            raise InputError.of_name(
                f"{side.name} has no example",
                example,
                systems[name].examples,
                where=record.where,
            )
        for role, by_caption in numbers.items():
            if role in cells:
                value = _read_number(cells[role], role, columns[role], record, bounds)
                by_caption.setdefault((name, example), []).append(value)
    return {
        role: {key: sum(values) / len(values) for key, values in rows.items()}
        for role, rows in numbers.items()
    }


def _read_number(
    cell: object, role: str, column: str, record: Record, bounds: Bounds | None
) -> float:
    """Return the number of a cell of labels; raise :class:`InputError` for one that
    cannot have its role.
    """
    value = number(cell)
    if value is None or (role == "probability" and not 0 < value <= 1):
        expected = "more than 0 and at most 1" if role == "probability" else "a number"
        raise InputError(
            f"'{column}' is {'empty' if cell is None else cell}; expected {expected}",
            record.where,
        )
    if role == "score" and bounds and not bounds[0] <= value <= bounds[1]:
        raise InputError(
            f"'{column}' is {value:g}; expected {bounds[0]:g} to {bounds[1]:g}, "
            "the bounds",
            record.where,
        )
    return value


def _check_independence(
    side: ComparedRun, metrics: Sequence[str], labels: str | Path
) -> None:
    """Raise :class:`HarnessError` for a metric with a parameter that is the file of
    labels: it was fitted on them.
    """
    digest = file_digest(Path(labels))
    for metric in metrics:
        # A path may stand at any depth of the parameters.
        parameters = to_json(side.run.provenance.metric(metric).params).decode()
        texts: list[str] = re.findall(r'"([^"]{1,1000})"', parameters)
        files = [path for path in map(Path, texts) if path.is_file()]
        if any(file_digest(path) == digest for path in files):
            raise HarnessError(
                f"'{metric}' was fitted on {labels}: it does not predict labels that "
                "it has seen; label other examples"
            )
