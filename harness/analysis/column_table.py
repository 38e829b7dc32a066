"""Tables of metric columns: from a TSV or CSV file, or from run directories, one row per system or per example."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, cast

import numpy as np

from harness.errors import InputError, UnknownName, did_you_mean
from harness.rundir.rundir import RunDir

MISSING = frozenset({"", "na", "nan", "none", "null"})
RowKind = Literal["system", "example"]


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Numbers by column, labels by column; all of one length."""

    source: str
    numbers: Mapping[str, np.ndarray]
    """(n,) float64 per column, NaN where a cell is empty."""
    labels: Mapping[str, Sequence[str]]
    """Columns that are not numbers."""

    def __len__(self) -> int:
        for column in (*self.numbers.values(), *self.labels.values()):
            return len(column)
        return 0

    def groups(self, column: str) -> list[str]:
        """The label of every row in ``column`` (numbers are written out); raises :class:`UnknownName`."""
        if column in self.labels:
            return list(self.labels[column])
        if column in self.numbers:
            return [_number_text(value) for value in self.numbers[column]]
        options = [*self.labels, *self.numbers]
        raise UnknownName(f"{self.source} has no column '{column}'{did_you_mean(column, options)}")

    def matrix(self, columns: Sequence[str]) -> np.ndarray:
        """(n, len(columns))."""
        return np.stack([self.numbers[name] for name in columns], axis=1)


def read_columns(sources: Sequence[str | Path], rows: RowKind = "system") -> ColumnTable:
    """One table file, or any number of run directories (``rows``: one row per model and decoding, or per example).

    Raises :class:`InputError` for what cannot be read, with the line.
    """
    paths = [Path(source) for source in sources]
    if not paths:
        raise InputError("no table and no run directory given")
    folders = [path for path in paths if path.is_dir()]
    if len(folders) == len(paths):
        return _from_runs(paths, rows)
    if len(paths) > 1 or folders:
        raise InputError("give one table file or any number of run directories, not both")
    if not paths[0].is_file():
        raise InputError("no such file or run directory", str(paths[0]))
    return read_table(paths[0])


def read_table(path: Path) -> ColumnTable:
    """A tab- or comma-separated file with a header line, gzipped or not; ``inf`` is a number, an empty cell is NaN."""
    opener = gzip.open if path.suffix == ".gz" else open
    with cast("TextIO", opener(path, "rt", encoding="utf-8", newline="")) as file:
        first = file.readline()
        delimiter = "\t" if "\t" in first else ","
        header = next(csv.reader([first], delimiter=delimiter), list[str]())
        if not header:
            raise InputError("is empty; expected a header line and rows", str(path))
        double = next((name for name, count in Counter(header).items() if count > 1), None)
        if double is not None:
            raise InputError(f"the column '{double}' comes twice", f"{path}:1")
        cells = list(_lines(path, file, delimiter, len(header)))
    return _typed(str(path), {name: tuple(row[k] for row in cells) for k, name in enumerate(header)})


def from_records(source: str, records: Iterable[Mapping[str, object]]) -> ColumnTable:
    """A table of mappings column -> number or text; a column that a record lacks is missing there."""
    records = list(records)
    names = list(dict.fromkeys(name for record in records for name in record))
    return _typed(source, {name: tuple(_cell(record.get(name)) for record in records) for name in names})


def _cell(value: object) -> str:
    if isinstance(value, float):  # numpy's float64 too
        return repr(float(value))
    return "" if value is None else str(value)


def _number_text(value: float) -> str:
    """Return a number with all its digits, whole ones without a fraction."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _lines(path: Path, file: Iterable[str], delimiter: str, width: int) -> Iterator[list[str]]:
    reader = csv.reader(file, delimiter=delimiter)
    for row in reader:
        if not row:
            continue
        if len(row) != width:
            raise InputError(f"{len(row)} cells, expected {width}", f"{path}:{reader.line_num + 1}")
        yield row


def _typed(source: str, columns: Mapping[str, Sequence[str]]) -> ColumnTable:
    numbers: dict[str, np.ndarray] = {}
    labels: dict[str, Sequence[str]] = {}
    for name, cells in columns.items():
        try:
            numbers[name] = np.array([np.nan if c.strip().lower() in MISSING else float(c) for c in cells], np.float64)
        except ValueError:
            labels[name] = cells
    return ColumnTable(source, numbers, labels)


# --------------------------------------------------------------------------- runs
def _from_runs(paths: Sequence[Path], rows: RowKind) -> ColumnTable:
    runs = [RunDir.open(path) for path in paths]
    records = [record for run in runs for record in (_systems(run) if rows == "system" else _examples(run))]
    return from_records(", ".join(map(str, paths)), records)


def _systems(run: RunDir) -> list[dict[str, object]]:
    """Return one record per model and decoding; columns of level ``model`` belong to every decoding of their model."""
    of_models: dict[str, dict[str, object]] = {}
    rows: dict[tuple[str, str, str], dict[str, object]] = {}
    for record in run.records:
        if math.isnan(record.value):
            continue  # undefined: the cell stays empty
        if record.level == "model":
            columns = of_models.setdefault(record.model, {"dataset": record.task})
            columns[record.metric] = record.value
            continue
        key = (record.task, record.model, json.dumps(dict(record.decoding), sort_keys=True))
        labels: dict[str, object] = {"run": str(run.path), "dataset": key[0], "model": key[1], "decoding": key[2]}
        rows.setdefault(key, labels)[record.metric] = record.value
    for model, columns in of_models.items():
        targets = [row for (_, name, _), row in rows.items() if name == model]
        if not targets:
            key = (str(columns["dataset"]), model, "")
            targets = [rows.setdefault(key, {"run": str(run.path), "model": model})]
        for row in targets:
            row.update(columns)
    return list(rows.values())


def _examples(run: RunDir) -> list[dict[str, object]]:
    """Return one record per model, decoding and example."""
    samples = run.require_samples("there are no scores per example")
    names = samples.scored_columns
    columns = [samples.numbers(name) for name in names]
    keys = zip(samples.texts("model"), samples.texts("decoding"), samples.texts("example"))
    task = run.provenance.task or run.path.name
    return [
        {
            "run": str(run.path), "dataset": task, "model": model, "decoding": decoding, "example": example,
            **{name: None if np.isnan(column[row]) else float(column[row]) for name, column in zip(names, columns)},
        }
        for row, (model, decoding, example) in enumerate(keys)
    ]  # fmt: skip
