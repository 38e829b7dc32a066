"""Mean human scores of systems, and their differences, from few labels and the scores of a metric or judge on all examples."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.analysis.human_labels import (
    HumanLabels,
    check_independence,
    mean_predictions,
    named_systems,
    predictions,
    predictors,
    read_labels,
    stratify,
)
from harness.analysis.pairs import ComparedRun
from harness.errors import HarnessError, InputError, counted
from harness.run.finished import Run
from harness.rundir.samples import System
from harness.stats.bootstrap import number_clusters
from harness.stats.prediction_powered import LabelDesign, cross_fitted_predictions, powered_mean

LEAST_LABELS = 3
"""Smallest number of labels of an estimate in one stratum."""


@dataclass(frozen=True, kw_only=True)
class HumanScore:
    """Estimate of the mean human score of a system, or of the difference of two systems."""

    system: str
    baseline: str = ""
    """System whose score is subtracted; empty for the score of one system."""
    value: float
    standard_error: float
    ci95: tuple[float, float]
    classical: float
    """Mean of the labels alone."""
    classical_error: float
    classical_ci95: tuple[float, float]
    tuning: float
    """Coefficient of the predictions (lambda of PPI++)."""
    labels: int
    """Number of examples with labels."""
    examples: int

    @property
    def saved(self) -> float:
        """Number of further labels with which the labels alone would have the same standard error."""
        return self.labels * ((self.classical_error / self.standard_error) ** 2 - 1) if self.standard_error else float("inf")


@dataclass(frozen=True)
class HumanScores:
    """Estimates of all systems, then of their differences."""

    rows: tuple[HumanScore, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Study:
    """A run with labels."""

    side: ComparedRun
    path: str | Path
    labels: HumanLabels
    metrics: Sequence[str]
    finite: bool
    seed: int
    strata: dict[str, int]
    """Example -> number of its stratum; empty for one stratum."""


def estimate(
    run: str | Path | Run,
    labels: str | Path,
    *,
    by: str | Sequence[str],
    baseline: str | None = None,
    population: bool = False,
    seed: int = 0,
) -> HumanScores:
    """Return the mean human score of each system with labels and the differences of systems, by prediction-powered inference.

    Parameters
    ----------
    run : str, Path or Run
        Run directory, ``RUN::MODEL``, or run.
    labels : str or Path
        File with columns ``id``, ``score``, ``system`` where the run has several, and ``probability`` and ``stratum`` of a label plan.
    by : str or sequence of str
        Metric or judge of the run whose scores predict the labels; several are combined by least squares with cross-fitting.
    baseline : str, optional
        System that the others are compared with; default: all pairs.
    population : bool
        Estimate the mean over the examples of the run alone; default: over the population that they are drawn from.
    seed : int
        Seed of the folds of cross-fitting.

    Raises
    ------
    HarnessError
        The labels are of other examples or systems, too few, constant, or the metric was fitted on them.
    """
    side = ComparedRun.open(run)
    metrics = predictors(side, [by] if isinstance(by, str) else by)
    human = read_labels(labels, side)
    for metric in metrics:
        check_independence(side, metric, labels)
    named = {name: system for name, system in named_systems(side).items() if name in human.scores}
    if baseline is not None and baseline not in named:
        raise HarnessError.of_name(f"{labels} has no labels of", baseline, named, "it has those of")
    study = _Study(side, labels, human, metrics, population, seed, _strata(side, human, metrics[0], labels))
    notes = [] if human.probabilities else ["labels without probabilities count as a simple random sample of the examples"]
    if human.unscored:
        notes.append(f"{counted(human.unscored, 'row')} without a score: missing by chance, as the estimate takes it")
    rows = [_score(study, [named[name]], [name]) for name in named]
    pairs = [(name, baseline) for name in named if name != baseline] if baseline else itertools.combinations(named, 2)
    for pair in pairs:
        try:
            rows.append(_score(study, [named[name] for name in pair], pair))
        except InputError as error:
            notes.append(error.message)
    return HumanScores(tuple(rows), tuple(notes))


def _strata(side: ComparedRun, human: HumanLabels, metric: str, path: str | Path) -> dict[str, int]:
    """Return example -> stratum by the mean prediction of all systems; raise :class:`InputError` where the labels have others."""
    if not human.strata:
        return {}
    bounds = sorted(set(human.strata.values()))
    means = mean_predictions(side.systems, metric)
    numbers = dict(zip(means, stratify(np.array(list(means.values())), bounds).tolist()))
    if min(numbers.values()) < 0 or any(bounds[numbers.get(example, -1)] != bound for example, bound in human.strata.items()):
        raise InputError(f"its strata are not those of '{metric}' in {side.name}: give the run and the metric of the label plan", str(path))
    return numbers


def _score(study: _Study, systems: Sequence[System], names: Sequence[str]) -> HumanScore:
    """Return the estimate of one system, or of the first minus the second."""
    human, examples = study.labels, [example for example in systems[0].examples if all(example in item.row_of for item in systems)]
    signs = np.array([1.0, -1.0][: len(systems)])
    rows = [np.array([system.row_of[example] for example in examples]) for system in systems]
    rated = np.array([[human.scores[name].get(example, np.nan) for example in examples] for name in names])
    labels = signs @ rated
    title, present = " - ".join(names), labels[~np.isnan(labels)]
    if len(present) < LEAST_LABELS:
        raise InputError(
            f"{title}: {counted(len(present), 'label')} of the same captions; expected at least {LEAST_LABELS}", str(study.path)
        )
    if np.ptp(present) == 0:
        raise InputError(f"{title}: all {len(present)} labels are {present[0]:g}, which gives no interval", str(study.path))
    columns = np.stack(
        [sum(sign * predictions(system, metric)[row] for sign, system, row in zip(signs, systems, rows)) for metric in study.metrics],
        axis=1,
    )
    column = study.side.run.provenance.spec.get("cluster")
    clusters = number_clusters(np.array(systems[0].clusters(str(column)))[rows[0]]) if column else None
    if len(study.metrics) > 1:
        predicted = cross_fitted_predictions(labels, columns, clusters, study.seed)
    else:
        predicted = columns[:, 0]
    probabilities = np.array([human.probabilities.get(example, np.nan) for example in examples]) if human.probabilities else None
    strata = np.array([study.strata[example] for example in examples]) if study.strata else None
    powered = powered_mean(labels, predicted, LabelDesign(probabilities, strata, clusters, study.finite))
    classical = powered_mean(labels, predicted, LabelDesign(probabilities, None, clusters, study.finite), tuning=0.0)
    if np.isnan(powered.standard_error):
        raise InputError(f"{title}: {counted(len(present), 'label')} are too few for their strata or clusters", str(study.path))
    if len(study.metrics) == 1 and abs(np.corrcoef(present, predicted[~np.isnan(labels)])[0, 1]) > 1 - 1e-9:
        raise InputError(f"{title}: '{study.metrics[0]}' repeats the labels, which it should predict", str(study.path))
    return HumanScore(
        system=names[0], baseline=names[1] if len(names) > 1 else "", value=powered.value, standard_error=powered.standard_error,
        ci95=powered.ci95, classical=classical.value, classical_error=classical.standard_error, classical_ci95=classical.ci95,
        tuning=powered.tuning, labels=len(present), examples=len(examples),
    )  # fmt: skip
