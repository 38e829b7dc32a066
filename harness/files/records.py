"""Records of users' files: JSON, JSON Lines and Parquet, compressed (gzip, Zstandard)
or not.

The content of a file, not its name, decides whether it is gzipped, Parquet, a JSON list
or JSON Lines. Text is UTF-8 and is not changed. Every error is an
:class:`~harness.errors.InputError` whose ``where`` is ``file``, ``file:line`` or
``file: record 3``. Tables of text are read by :mod:`harness.files.delimited_tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.streams import lines_of
from harness.files.strict_json import decode_json, load_json
from harness.files.user_files import first_byte, is_parquet, open_binary
from harness.files.yaml_source import YamlValue

if TYPE_CHECKING:
    import pyarrow as pa

UNCHECKED_ROWS = 1_000_000
"""Number of rows up to which a Parquet file is not checked for its expansion."""
PARQUET_BATCH = 4096
"""Number of rows that are decoded at a time."""
MOST_COLUMNS = 10_000
"""Maximum number of columns of a table."""
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    type(None): "null",
}


class Record(NamedTuple):
    """One line, list item or row of a file."""

    where: str
    """Place of the record: ``file:line`` or ``file: record 3``."""
    fields: Parameters


def records(path: Path, *, constants: bool = False) -> Iterator[Record]:
    """Yield the records of a Parquet file, a JSON list of objects, or JSON Lines;
    the content decides which.

    ``constants`` accepts NaN and Infinity in JSON.
    """
    if is_parquet(path):
        yield from parquet_rows(path)
    elif first_byte(path) == b"[":
        yield from list_items(load_json(path, constants=constants), str(path))
    else:
        yield from json_lines(path, constants=constants)


def list_items(value: YamlValue, location: str) -> Iterator[Record]:
    """Yield the items of a list of objects; raise :class:`InputError` for anything
    else.
    """
    if not isinstance(value, list):
        raise InputError(f"found {kind(value)}; expected a list of objects", location)
    for number, item in enumerate(value, 1):
        at = f"{location}: record {number}"
        if not isinstance(item, dict):
            raise InputError(f"found {kind(item)}; expected an object", at)
        yield Record(at, item)


def json_lines(path: Path, *, constants: bool = False) -> Iterator[Record]:
    """Yield the objects of a JSON Lines file, one per line; blank lines are skipped.

    ``constants`` accepts NaN and Infinity.
    """
    # Bytes before the line, for messages: the file may be larger than the memory, and
    # is never read as a whole.
    offset = 0
    with open_binary(path) as file:
        for number, line in lines_of(file, str(path)):
            if line.strip():
                where = f"{path}:{number}"
                value = decode_json(line, where, offset=offset, constants=constants)
                if not isinstance(value, dict):
                    raise InputError(f"found {kind(value)}; expected an object", where)
                yield Record(where, value)
            offset += len(line)


def parquet_rows(
    path: Path, columns: Sequence[str] | None = None, *, batch: int | None = None
) -> Iterator[Record]:
    """Yield the rows of a Parquet file as Python values, all columns or those of
    ``columns``; ``batch`` rows are decoded at a time.

    Without ``columns``, an image or another file whose content lies beside its path, as
    the package datasets stores it, is the path.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            _check_rows(path, file.metadata.num_rows)
            check_columns(path, file.metadata.num_columns)

            # Rows of texts are large as Python objects: a batch of them at a time,
            # whatever the row groups of the writer.
            names = list(columns) if columns else None
            files = [] if columns else _file_columns(file.schema_arrow)
            if files:  # the content is not read
                names = [
                    f"{name}.path" if name in files else name
                    for name in file.schema_arrow.names
                ]
            for rows in file.iter_batches(batch or PARQUET_BATCH, columns=names):
                for row in rows.to_pylist():
                    number += 1
                    for name in files:
                        row[name] = row[name] and row[name]["path"]
                    yield Record(f"{path}: record {number}", row)
    except (ValueError, pa.ArrowNotImplementedError, OSError) as error:
        # ValueError: ArrowInvalid, and names of columns that are no UTF-8.
        raise InputError(
            f"not readable as Parquet after record {number}: {_one_line(error)}",
            str(path),
        ) from error


def _file_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that hold files: structures of their path and content."""
    import pyarrow as pa

    return [
        field.name
        for field in schema
        if pa.types.is_struct(field.type)
        and {part.name for part in field.type} == {"bytes", "path"}
        and str(field.type.field("path").type) in ("string", "large_string")
    ]


def _check_rows(path: Path, rows: int) -> None:
    """Raise :class:`InputError` for many more rows than a file of this size holds
    records: equal values are packed without bound.
    """
    size = path.stat().st_size
    if rows > max(UNCHECKED_ROWS, size):
        raise InputError(
            f"the {size:,} bytes expand to {rows:,} rows; if that is right, "
            "write them as JSON Lines",
            str(path),
        )


def check_columns(path: Path, columns: int) -> None:
    """Raise :class:`InputError` for more columns than a table of texts and scores
    has.
    """
    if columns > MOST_COLUMNS:
        raise InputError(
            f"found {columns:,} columns; a table has at most {MOST_COLUMNS:,}",
            str(path),
        )


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def kind(value: YamlValue) -> str:
    """Return the kind of a JSON value in words, for messages.

    >>> kind([]), kind(None), kind(3)
    ('a list', 'null', 'the number 3')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return _KINDS.get(type(value), f"a {type(value).__name__}")
