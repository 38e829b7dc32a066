"""Tables of metric columns, and their files: CSV, TSV, Parquet and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from harness.errors import InputError, UnknownName, did_you_mean
from harness.files.columns import ID_COLUMNS
from harness.files.delimited_tables import delimited_rows, is_table_file
from harness.files.records import records as records_of
from harness.files.user_files import first_byte, is_parquet

MISSING = frozenset({"", "na", "nan", "none", "null"})
RowKind = Literal["system", "example"]
"""The unit that a row of a run stands for."""
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


def read_table(path: Path) -> ColumnTable:
    """Return the table of a tab- or comma-separated file with a header line, of
    Parquet, or of a JSON list of flat objects.

    JSON Lines are recognised too; every text format may be gzipped. ``inf`` is a
    number, an empty cell NaN. Raises :class:`InputError` with the line of a mistake.
    """
    return from_records(str(path), read_cells(path))


def read_cells(path: Path) -> list[dict[str, object]]:
    """Return the rows of a table by column."""
    if path.suffix.lower() == ".parquet" and not is_parquet(path):
        raise InputError(
            "not readable as Parquet: it does not begin with PAR1", str(path)
        )

    is_json = not is_table_file(path) and first_byte(path) in (b"[", b"{")
    if is_parquet(path) or is_json:
        rows = records_of(path)
    else:
        rows = delimited_rows(path, quoted_tabs=True)
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
    """Return the table of columns of texts: numbers where every cell is one."""
    numbers: dict[str, np.ndarray] = {}
    labels: dict[str, Sequence[str]] = {}
    for name, cells in columns.items():
        try:
            numeric = [
                np.nan if cell.strip().lower() in MISSING else float(cell)
                for cell in cells
            ]
        except ValueError:
            labels[name] = cells
            continue

        values = np.array(numeric, np.float64)
        numbers[name] = values
        # Ids of many digits stay texts too, so that groups of rows are told apart.
        if not _has_exact_integers(cells, values):
            labels[name] = cells
    return ColumnTable(source, numbers, labels, frozenset(columns) & _IDS)
