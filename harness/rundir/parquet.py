"""Parquet files read by column and written by row group.

Files are read without pyarrow's threads: where the memory is too small to start one, it
waits for it for ever.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.errors import InputError
from harness.files.memory import require_memory
from harness.rundir.format import open_run_file

Arrow = Any
"""A module or an object of pyarrow, which has no types."""

TEXTS = "texts"
LISTS = "lists of texts"
NUMBERS = "numbers"
RECORDS = "lists of records"
"""Kinds of columns."""


def column_kinds(path: Path) -> dict[str, str]:
    """Return name -> :data:`TEXTS`, :data:`LISTS`, :data:`NUMBERS` (also of a column
    without values), :data:`RECORDS` or the name of another type.

    Raises :class:`InputError` for a damaged file.
    """
    parquet = importlib.import_module("pyarrow.parquet")
    arrow = importlib.import_module("pyarrow")
    types: Arrow = cast(Arrow, arrow).types
    try:
        with open_run_file(path) as file:
            schema: Arrow = cast(Arrow, parquet).read_schema(file)
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None

    def kind(data_type: Arrow) -> str:
        if types.is_string(data_type) or types.is_large_string(data_type):
            return TEXTS

        is_number = types.is_floating(data_type) or types.is_integer(data_type)
        if is_number or types.is_null(data_type):
            return NUMBERS

        if types.is_list(data_type) and types.is_struct(data_type.value_type):
            return RECORDS

        # lists that are all empty have no type of their items
        is_list = types.is_list(data_type) and (
            types.is_null(data_type.value_type) or kind(data_type.value_type) == TEXTS
        )
        return LISTS if is_list else str(data_type)

    return {field.name: kind(field.type) for field in schema}


def read_column(path: Path, name: str, *, whole: bool = False) -> Sequence[object]:
    """Return one column as Python values; raise :class:`InputError` for a damaged file,
    and with ``whole`` for missing values.
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    try:
        with open_run_file(path) as file:
            table = parquet.ParquetFile(file).read(columns=[name], use_threads=False)
        if whole:
            require_values(table)
        return cast("list[object]", table.column(name).to_pylist())
    except (OSError, ValueError, KeyError) as error:
        # KeyError: a table without rows lacks the column
        raise damaged_file_error(path, error) from None


def read_rows(
    path: Path, names: Sequence[str], first: int, last: int
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield number and values of the rows from the row group of row ``first`` to that
    of row ``last``, one group in memory at a time; raise :class:`InputError` for a
    damaged file and for missing values.
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    start = 0
    try:
        with open_run_file(path) as opened, parquet.ParquetFile(opened) as file:
            for group in range(file.num_row_groups):
                length = file.metadata.row_group(group).num_rows
                if start <= last and start + length > first:
                    table = file.read_row_group(
                        group, columns=list(names), use_threads=False
                    )
                    require_values(table)
                    columns = table.to_pydict()
                    rows = zip(*(columns[name] for name in names))
                    yield from enumerate(rows, start)
                start += length
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None


def require_values(table: Arrow) -> None:
    """Raise :class:`ValueError` for a ``pyarrow.Table`` with missing values,
    also in lists.
    """
    arrow: Arrow = importlib.import_module("pyarrow")
    for name, column in zip(table.column_names, table.columns):
        n_missing = column.null_count
        if arrow.types.is_list(column.type):
            n_missing += sum(chunk.flatten().null_count for chunk in column.chunks)
        if n_missing:
            raise ValueError(f"column '{name}' has missing values")


def read_numbers(path: Path, name: str) -> np.ndarray:
    """Return one number column, float64, shape (rows,), NaN for null; raise
    :class:`InputError` for a damaged file.
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    arrow: Arrow = importlib.import_module("pyarrow")
    try:
        with open_run_file(path) as file:
            table = parquet.ParquetFile(file).read(columns=[name], use_threads=False)
        column = table.column(name).cast(arrow.float64())
        values = column.to_numpy(zero_copy_only=False)
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None
    return np.asarray(values, dtype=np.float64)


def read_codes(path: Path, name: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts of a column, and the number of each row's text,
    shape (rows,).
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    try:
        with open_run_file(path) as file:
            reader = parquet.ParquetFile(file, read_dictionary=[name])
            table = reader.read(columns=[name], use_threads=False)
        require_values(table)
        # Row groups have dictionaries of their own.
        coded: Arrow = table.column(name).unify_dictionaries().combine_chunks()
        texts = cast("list[str]", coded.dictionary.to_pylist())
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None
    return texts, np.asarray(coded.indices)


def read_table(path: Path) -> Arrow:
    """Return all columns as a ``pyarrow.Table``;
    raise :class:`InputError` for a damaged file.
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    try:
        with open_run_file(path) as file:
            table = parquet.ParquetFile(file).read(use_threads=False)
        table.validate(full=True)  # texts that are no UTF-8
        return table
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None


def table_of(
    columns: Mapping[str, Sequence[object]], types: Mapping[str, Arrow] | None = None
) -> Arrow:
    """Return columns as a ``pyarrow.Table``; ``types`` has the Arrow types of those
    whose values do not tell theirs.
    """
    arrow: Arrow = importlib.import_module("pyarrow")
    given = types or {}
    return arrow.table(
        {
            name: arrow.array(values, given[name]) if name in given else values
            for name, values in columns.items()
        }
    )


def row_count(path: Path) -> int:
    """Return the number of rows of a file;
    raise :class:`InputError` for a damaged one.
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    try:
        with open_run_file(path) as file:
            return int(parquet.read_metadata(file).num_rows)
    except (OSError, ValueError) as error:
        raise damaged_file_error(path, error) from None


def encode_columns(
    columns: Mapping[str, Sequence[object]], groups: Iterable[tuple[int, int]]
) -> bytes:
    """Return columns as the content of a file, one row group per (start, length) of
    ``groups``.
    """
    parquet: Arrow = importlib.import_module("pyarrow.parquet")
    table = table_of(columns)
    require_memory(2 * table.nbytes)

    buffer = io.BytesIO()
    with parquet.ParquetWriter(buffer, table.schema, compression="zstd") as writer:
        for start, length in groups:
            writer.write_table(table.slice(start, length))
    return buffer.getvalue()


def damaged_file_error(path: Path, error: Exception | str) -> InputError:
    """Return the error of a damaged file of a run directory."""
    return InputError(
        f"is damaged ({error}); run the spec again to rebuild it", str(path)
    )
