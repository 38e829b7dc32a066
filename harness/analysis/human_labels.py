"""Human scores of some captions of a run, read from a file, with the probabilities and strata by which they were drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from harness.analysis.pairs import ComparedRun
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.captions import ID_COLUMNS
from harness.files.record_files import read_records
from harness.files.records import Record
from harness.judgments.fields import number
from harness.registry.catalogue import spelling
from harness.rundir.format import file_digest
from harness.rundir.samples import System

SCORES = ("score", "human_score", "human_mean", "rating", "label")
"""Usual names of the column of scores, in order of preference; likewise for the columns below."""
SYSTEMS = ("system", "model")
IDS = ("example", *ID_COLUMNS)


@dataclass(frozen=True)
class HumanLabels:
    """Human scores of captions of a run."""

    scores: Mapping[str, Mapping[str, float]]
    """System -> example -> score, the mean of several rows."""
    probabilities: Mapping[str, float]
    """Example -> probability with which it was drawn; empty for labels without."""
    strata: Mapping[str, float]
    """Example -> smallest prediction of its stratum; empty for labels without."""
    unscored: int
    """Number of rows without a score."""


def named_systems(side: ComparedRun) -> dict[str, System]:
    """Return label -> system of a run or of the chosen model of one."""
    return {side.label(system): system for system in side.systems}


def read_labels(path: str | Path, side: ComparedRun) -> HumanLabels:
    """Return the human scores of a file: CSV, TSV, Parquet or JSON with columns of ids, scores, and of systems where the run has several.

    Raises :class:`InputError` with the place of a row that is not of the run or has no such number.
    """
    records = list(read_records(path, "file of labels"))
    if not records:
        raise InputError("is empty: it has no labels", str(path))
    ids, scores, systems, probabilities, strata = (
        next((name for name in names if name in records[0].fields), None)
        for names in (IDS, SCORES, SYSTEMS, ("probability",), ("stratum",))
    )
    named = named_systems(side)
    for role, column, usual in (("ids", ids, "id"), ("scores", scores, "score"), ("systems", systems, "system")):
        if column is None and not (role == "systems" and len(named) == 1):
            raise InputError(f"no column of {role} ('{usual}'); it has {', '.join(records[0].fields)}", str(path))
    values: dict[str, dict[str, list[float]]] = {}
    drawn: dict[str, float] = {}
    of_stratum: dict[str, float] = {}
    labels = [record for record in records if record.fields.get(str(scores)) not in (None, "")]
    for record in labels:
        example = str(record.fields.get(str(ids)))
        name = next(iter(named)) if systems is None else str(record.fields.get(systems))
        if name not in named:
            raise InputError.of_name(f"{side.name} has no system", name, named, "there are", record.where)
        if example not in named[name].row_of:
            hint = did_you_mean(example, named[name].examples[:2000])
            raise InputError(f"{side.name} has no example '{example}'{hint}", record.where, value=example)
        values.setdefault(name, {}).setdefault(example, []).append(_number(record, str(scores)))
        if probabilities is not None:
            drawn[example] = _number(record, probabilities)
            if not 0 < drawn[example] <= 1:
                raise InputError(f"'{probabilities}' is {drawn[example]:g}; expected more than 0 and at most 1", record.where)
        if strata is not None and record.fields.get(strata) not in (None, ""):
            of_stratum[example] = _number(record, strata)
    means = {name: {example: float(np.mean(rows)) for example, rows in rated.items()} for name, rated in values.items()}
    return HumanLabels(means, drawn, of_stratum, len(records) - len(labels))


def _number(record: Record, column: str) -> float:
    value = number(record.fields.get(column))
    if value is None:
        raise InputError(f"'{column}' is {record.fields.get(column)!r}; expected a number", record.where)
    return value


# --------------------------------------------------------------------------- predictions
def predictors(side: ComparedRun, names: Sequence[str]) -> list[str]:
    """Return the metrics of some names, each with scores per example; raise :class:`HarnessError` with the nearest for an unknown one."""
    labels = {spelling(label): label for label in side.run.samples.metrics}
    for name in names:
        if spelling(name) not in labels:
            raise HarnessError.of_name(f"{side.name} has no scores per example of", name, labels.values(), "it has those of")
    return [labels[spelling(name)] for name in names]


def predictions(system: System, metric: str) -> np.ndarray:
    """Return the scores (B,) of a metric as predictions: an undefined one is the mean of the others."""
    scores = system.scores(metric)
    if not np.isfinite(scores).any():
        raise HarnessError(f"'{metric}' is defined for no example of {system.label}")
    return np.where(np.isfinite(scores), scores, scores[np.isfinite(scores)].mean())


def mean_predictions(systems: Sequence[System], metric: str) -> dict[str, float]:
    """Return example -> mean prediction of the systems, for the examples that all of them have."""
    shared = [example for example in systems[0].examples if all(example in system.row_of for system in systems)]
    rows = [predictions(system, metric)[[system.row_of[example] for example in shared]] for system in systems]
    return dict(zip(shared, np.mean(rows, axis=0).tolist()))


def stratify(values: np.ndarray, bounds: Sequence[float]) -> np.ndarray:
    """Return the stratum (B,) of values: the last of the sorted smallest values ``bounds`` that is not larger; -1 below all of them.

    >>> stratify(np.array([0.0, 0.2, 0.5, -1.0]), [0.0, 0.5]).tolist()
    [0, 0, 1, -1]
    """
    return np.searchsorted(np.asarray(bounds), values, side="right") - 1


def check_independence(side: ComparedRun, metric: str, labels: str | Path) -> None:
    """Raise :class:`HarnessError` for a metric with a parameter that is the file of labels: it was fitted on them."""
    digest = file_digest(Path(labels).expanduser())
    for text in _texts(side.run.provenance.metric(metric).params):
        file = Path(text).expanduser()
        if len(text) < 4096 and file.is_file() and file_digest(file) == digest:
            raise HarnessError(
                f"'{metric}' was fitted on {labels}: it does not predict labels that it has seen; label other examples, or name its "
                "parts (--by A,B), which are fitted to the labels by cross-fitting"
            )


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a nested value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        items = value.values() if isinstance(value, Mapping) else value
        for item in cast("Sequence[object]", items):
            yield from _texts(item)
