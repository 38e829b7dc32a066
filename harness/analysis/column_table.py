"""Tables of metric columns, from files (CSV, TSV, Parquet, JSON) or run directories,
with one row per system or per example.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from harness.errors import InputError, UnknownName, did_you_mean
from harness.files.columns import ID_COLUMNS
from harness.files.delimited_tables import delimited_rows, is_table_file
from harness.files.records import records as records_of
from harness.files.user_files import first_byte, is_parquet
from harness.run.finished import Run

MISSING = frozenset({"", "na", "nan", "none", "null"})
RowKind = Literal["system", "example"]
_KEYS = ("run", "dataset", "model", "decoding", "example")
"""Columns of every run."""
_IDS = frozenset({*ID_COLUMNS, "item", "item_id", "example", "run", "file"})
"""Usual names of columns of ids."""


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Number columns and label columns of equal length n."""

    source: str
    numbers: Mapping[str, np.ndarray]
    """Column -> numbers, float64, shape (n,), NaN where a cell is empty."""
    labels: Mapping[str, Sequence[str]]
    """Column -> texts, length n; also a number column whose integers exceed the
    precision of float64.
    """
    unselected: frozenset[str] = frozenset()
    """Columns that a pattern such as ``*`` does not select: ids, metadata,
    human scores.
    """

    def __len__(self) -> int:
        for column in (*self.numbers.values(), *self.labels.values()):
            return len(column)
        return 0

    def groups(self, column: str) -> list[str]:
        """Return the label of each row in ``column``, length n;
        numbers with all their digits.

        Raises :class:`UnknownName` with the nearest column for an unknown one.
        """
        if column in self.labels:
            return list(self.labels[column])
        if column in self.numbers:
            return [_number_text(value) for value in self.numbers[column]]
        options = [*self.labels, *self.numbers]
        raise UnknownName(
            f"{self.source} has no column '{column}'{did_you_mean(column, options)}"
        )

    def matrix(self, columns: Sequence[str]) -> np.ndarray:
        """Return number columns as an array, float64, shape (n, len(columns))."""
        return np.stack([self.numbers[name] for name in columns], axis=1)


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
    return from_records(
        ", ".join(map(str, paths)),
        [{"file": str(path), **cells} for path in paths for cells in _read_cells(path)],
    )


def read_table(path: Path) -> ColumnTable:
    """Return the table of a tab- or comma-separated file with a header line, of
    Parquet, or of a JSON list of flat objects.

    JSON Lines are recognised too; every text format may be gzipped. ``inf`` is a
    number, an empty cell NaN. Raises :class:`InputError` with the line of a mistake.
    """
    return from_records(str(path), _read_cells(path))


def _read_cells(path: Path) -> list[dict[str, object]]:
    """Return the rows of a table by column."""
    if path.suffix.lower() == ".parquet" and not is_parquet(path):
        raise InputError(
            "not readable as Parquet: it does not begin with PAR1", str(path)
        )
    is_json = not is_table_file(path) and first_byte(path) in (b"[", b"{")
    rows = (
        records_of(path)
        if is_parquet(path) or is_json
        else delimited_rows(path, quoted_tabs=True)
    )
    cells = [
        {name: value for name, value in row.fields.items() if _is_cell(value)}
        for row in rows
    ]
    if not cells:
        raise InputError("is empty: it has no rows", str(path))
    return cells


def from_records(source: str, records: Iterable[Mapping[str, object]]) -> ColumnTable:
    """Return the table of mappings column -> number or text;
    the cell of a column that a record lacks is empty.
    """
    records = list(records)
    names = list(dict.fromkeys(name for record in records for name in record))
    return _parse_columns(
        source,
        {name: tuple(_cell(record.get(name)) for record in records) for name in names},
    )


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _cell(value: object) -> str:
    if isinstance(value, float):  # numpy's float64 too
        return repr(float(value))
    return "" if value is None else str(value)


def _number_text(value: float) -> str:
    """Return a number with all its digits, whole ones without a fraction."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _has_exact_integers(cells: Sequence[str], values: np.ndarray) -> bool:
    """Return False when an integer of the cells differs from its value (n,), because it
    has more digits than float64 holds.
    """
    large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= 2.0**53)).tolist()
    return not any(
        re.fullmatch(r"\s*[+-]?\d+\s*", cells[row])
        and int(cells[row]) != int(values[row])
        for row in large
    )


def _parse_columns(source: str, columns: Mapping[str, Sequence[str]]) -> ColumnTable:
    numbers: dict[str, np.ndarray] = {}
    labels: dict[str, Sequence[str]] = {}
    for name, cells in columns.items():
        try:
            values = np.array(
                [np.nan if c.strip().lower() in MISSING else float(c) for c in cells],
                np.float64,
            )
        except ValueError:
            labels[name] = cells
            continue
        numbers[name] = values
        if not _has_exact_integers(cells, values):
            labels[name] = cells
    return ColumnTable(source, numbers, labels, frozenset(columns) & _IDS)


# --------------------------------------------------------------------------- runs
def _from_runs(paths: Sequence[Path], rows: RowKind) -> ColumnTable:
    runs = [Run.open(path) for path in paths]
    records = [
        record
        for run in runs
        for record in (_systems(run) if rows == "system" else _examples(run))
    ]
    table = from_records(", ".join(map(str, paths)), records)
    fields = {
        name
        for run in runs
        for meta in (run.samples.metadata if rows == "example" else ())
        for name in meta
    }
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
        key = (
            record.task,
            record.model,
            json.dumps(dict(record.decoding), sort_keys=True),
        )
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
    keys = zip(
        samples.texts("model"), samples.texts("decoding"), samples.texts("example")
    )
    task = run.provenance.task or Path(run.name).name
    metadata = samples.metadata
    return [
        {
            "run": str(run.path),
            "dataset": task,
            "model": model,
            "decoding": decoding,
            "example": example,
            **{
                name: value
                for name, value in metadata[row].items()
                if name not in _KEYS and name not in names
            },
            **{
                name: None if np.isnan(column[row]) else float(column[row])
                for name, column in zip(names, columns)
            },
        }
        for row, (model, decoding, example) in enumerate(keys)
    ]
