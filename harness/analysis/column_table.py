"""Tables of metric columns: from a TSV or CSV file, or from run directories, one row per system or per example."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.errors import InputError, UnknownName, did_you_mean
from harness.rundir.store import read_run

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
            return [f"{value:g}" for value in self.numbers[column]]
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
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        first = file.readline()
        delimiter = "\t" if "\t" in first else ","
        header = next(csv.reader([first], delimiter=delimiter), [])
        if not header:
            raise InputError("is empty; expected a header line and rows", str(path))
        double = next((name for k, name in enumerate(header) if name in header[:k]), None)
        if double is not None:
            raise InputError(f"the column '{double}' comes twice", f"{path}:1")
        cells = list(_lines(path, file, delimiter, len(header)))
    columns = dict(zip(header, zip(*cells))) if cells else dict.fromkeys(header, ())
    return _typed(str(path), columns)


def from_records(source: str, records: Iterable[Mapping[str, Any]]) -> ColumnTable:
    """A table of mappings column -> number or text; a column that a record lacks is missing there."""
    records = list(records)
    names = list(dict.fromkeys(name for record in records for name in record))
    return _typed(source, {name: tuple(_cell(record.get(name)) for record in records) for name in names})


def _cell(value: Any) -> str:
    return "" if value is None else (repr(float(value)) if isinstance(value, (float, np.floating)) else str(value))


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
    shown = ", ".join(map(str, paths))
    made = [record for path in paths for record in (_systems(path) if rows == "system" else _examples(path))]
    return from_records(shown, made)


def _systems(path: Path) -> list[dict[str, Any]]:
    """One record per model and decoding; numbers of level ``model`` belong to every decoding of their model."""
    _, results = read_run(path)
    by_model: dict[str, dict[str, Any]] = {}
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for record in results["results"]:
        value = record["value"]
        if not isinstance(value, (int, float)) and value not in ("inf", "-inf"):
            continue  # undefined there: the cell stays empty
        if record.get("level") == "model":
            by_model.setdefault(str(record["model"]), {})[record["metric"]] = value
            by_model[str(record["model"])].setdefault("dataset", str(record["task"]))
            continue
        key = (str(record["task"]), str(record["model"]), json.dumps(record.get("decoding", {}), sort_keys=True))
        row = found.setdefault(key, {"run": str(path), "dataset": key[0], "model": key[1], "decoding": key[2]})
        row[record["metric"]] = value
    for model, columns in by_model.items():
        own = [row for (_, name, _), row in found.items() if name == model]
        if not own:
            own = [found.setdefault((columns["dataset"], model, ""), {"run": str(path), "model": model})]
        for row in own:
            row.update(columns)
    return list(found.values())


def _examples(path: Path) -> list[dict[str, Any]]:
    """One record per model, decoding and example."""
    import pyarrow.parquet as pq

    manifest, _ = read_run(path)
    file = path / "samples.parquet"
    if not file.is_file():
        raise InputError("has no samples.parquet: there are no scores per example", str(path))
    keep = [name for name in pq.read_schema(file).names if name not in ("candidates", "references")]
    task = str(manifest.get("task", path.name))
    return [{"run": str(path), "dataset": task, **row} for row in pq.read_table(file, columns=keep).to_pylist()]
