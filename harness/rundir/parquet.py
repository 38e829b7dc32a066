"""Parquet files read by column and written by row group."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.errors import InputError
from harness.rundir.format import write_atomically


def column_names(path: Path) -> tuple[str, ...]:
    """Return the column names of a file; raise :class:`InputError` for a damaged one."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    try:
        return tuple(cast("list[str]", parquet.read_schema(path).names))
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def read_column(path: Path, name: str) -> Sequence[object]:
    """Return one column as Python values; raise :class:`InputError` for a damaged file."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    try:
        return cast("list[object]", parquet.read_table(path, columns=[name]).column(name).to_pylist())
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def read_numbers(path: Path, name: str) -> np.ndarray:
    """Return one number column, float64, shape (rows,), NaN for null; raise :class:`InputError` for a damaged file."""
    parquet, arrow = importlib.import_module("pyarrow.parquet"), importlib.import_module("pyarrow")
    try:
        column: Any = cast(Any, parquet).read_table(path, columns=[name]).column(name)
        values: Any = column.cast(cast(Any, arrow).float64()).to_numpy(zero_copy_only=False)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    return np.asarray(values, dtype=np.float64)


def read_codes(path: Path, name: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts of a column, and the number of each row's text, shape (rows,)."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    try:
        column = parquet.read_table(path, columns=[name], read_dictionary=[name]).column(name)
        coded: Any = column.unify_dictionaries().combine_chunks()
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    return cast("list[str]", coded.dictionary.to_pylist()), np.asarray(coded.indices)


def row_count(path: Path) -> int:
    """Return the number of rows of a file; raise :class:`InputError` for a damaged one."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    try:
        return int(parquet.read_metadata(path).num_rows)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def write_columns(path: Path, columns: Mapping[str, Sequence[object]], groups: Iterable[tuple[int, int]]) -> None:
    """Write columns as one file, one row group per (start, length) of ``groups``."""
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    table = arrow.table(dict(columns))
    buffer = io.BytesIO()
    with parquet.ParquetWriter(buffer, table.schema, compression="zstd") as writer:
        for start, length in groups:
            writer.write_table(table.slice(start, length))
    write_atomically(path, buffer.getvalue())


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"is damaged ({error}); run the spec again to rebuild it", str(path))
