"""Metric columns of files or of run directories, one row per system or per example."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.decisions.correlate.column_table import (
    ColumnTable,
    RowKind,
    from_records,
    read_cells,
    read_table,
)
from harness.errors import InputError
from harness.results import Run

_KEYS = ("run", "dataset", "model", "decoding", "example")
"""Columns of every run."""


def read_columns(
    sources: Sequence[str | Path], rows: RowKind = "system"
) -> ColumnTable:
    """Return the table of files, several one below the other with the column ``file``,
    or of any number of run directories.

    With ``rows`` ``system`` a run has one row per model and decoding, with ``example``
    one row per model, decoding and example. Raises :class:`InputError`, with the line
    where there is one, for a source that cannot be read.
    """
    paths = [Path(source) for source in sources]
    if not paths:
        raise InputError("expected a table file or run directories; found none")
    folders = [path for path in paths if path.is_dir()]
    if len(folders) == len(paths):
        return _from_runs(paths, rows)
    if folders:
        raise InputError("expected table files or run directories, not both")

    for path in paths:
        if not path.is_file():
            raise InputError("no such file or run directory", str(path))
    if len(paths) == 1:
        return read_table(paths[0])
    rows_of_files = [
        {"file": str(path), **cells} for path in paths for cells in read_cells(path)
    ]
    return from_records(", ".join(map(str, paths)), rows_of_files)


def _from_runs(paths: Sequence[Path], rows: RowKind) -> ColumnTable:
    """Return the table of run directories, whose metadata no pattern selects."""
    records: list[dict[str, object]] = []
    fields: set[str] = set()
    for run in [Run.open(path) for path in paths]:
        if rows == "system":
            records += _systems(run)
        else:
            records += _examples(run)
            fields.update(name for meta in run.samples.metadata for name in meta)
    table = from_records(", ".join(map(str, paths)), records)
    return replace(table, unselected=frozenset({*table.unselected, *_KEYS, *fields}))


def _systems(run: Run) -> list[dict[str, object]]:
    """Return one record per model and decoding; columns of level ``model`` belong to
    every decoding of their model.
    """
    of_models: dict[str, dict[str, object]] = {}
    rows: dict[tuple[str, str, str], dict[str, object]] = {}
    for record in run.records:
        if math.isnan(record.value):
            continue  # undefined: the cell stays empty
        if record.level == "model":
            columns = of_models.setdefault(record.model, {"dataset": record.task})
            columns[record.metric] = record.value
            continue

        # The first record of a row gives its labels.
        decoding = json.dumps(dict(record.decoding), sort_keys=True)
        key = (record.task, record.model, decoding)
        labels: dict[str, object] = {
            "run": str(run.path),
            "dataset": key[0],
            "model": key[1],
            "decoding": key[2],
        }
        rows.setdefault(key, labels)[record.metric] = record.value

    for model, columns in of_models.items():
        targets = [row for (_, name, _), row in rows.items() if name == model]
        if not targets:
            key = (str(columns["dataset"]), model, "")
            targets = [rows.setdefault(key, {"run": str(run.path), "model": model})]
        for row in targets:
            row.update(columns)
    return list(rows.values())


def _examples(run: Run) -> list[dict[str, object]]:
    """Return one record per model, decoding and example."""
    samples = run.samples
    if not len(samples):
        raise InputError("has no scores per example", run.name)
    names = samples.scored_columns
    columns = [samples.numbers(name) for name in names]
    task = run.provenance.task or Path(run.name).name
    metadata = samples.metadata

    records: list[dict[str, object]] = []
    keys = zip(
        samples.texts("model"), samples.texts("decoding"), samples.texts("example")
    )
    for row, (model, decoding, example) in enumerate(keys):
        record: dict[str, object] = {
            "run": str(run.path),
            "dataset": task,
            "model": model,
            "decoding": decoding,
            "example": example,
        }

        # Metadata that has the name of a column of every run stays out.
        for name, value in metadata[row].items():
            if name not in _KEYS and name not in names:
                record[name] = value
        for name, column in zip(names, columns):
            record[name] = None if np.isnan(column[row]) else float(column[row])
        records.append(record)
    return records
