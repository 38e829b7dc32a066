"""Records of users' files: JSON, JSON Lines, Parquet, and CSV or TSV with a header
line, compressed (gzip, Zstandard) or not.

The content of a file, not its name, decides whether it is gzipped, Parquet, a JSON list
or JSON Lines; a table has its name. Text is UTF-8 and is not changed. Every error is an
:class:`~harness.errors.InputError` whose ``where`` is ``file``, ``file:line`` or
``file: record 3``.
"""

from __future__ import annotations

import csv
import errno
import gzip
import hashlib
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.delimited import tab_separated_cells
from harness.files.encodings import encoding_hint
from harness.files.streams import (
    BoundedGzip,
    BoundedZstandard,
    PartPath,
    lines_of,
    spool_pipe,
)
from harness.files.user_path import nearest_beside, user_path
from harness.files.yaml_source import YamlValue

GZIP_MAGIC = b"\x1f\x8b"
ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"


class Record(NamedTuple):
    """One line, list item or row of a file."""

    where: str
    """Place of the record: ``file:line`` or ``file: record 3``."""
    fields: Parameters


UNCHECKED_ROWS = 1_000_000
"""Number of rows up to which a Parquet file is not checked for its expansion."""
PARQUET_BATCH = 4096
"""Number of rows that are decoded at a time."""
MOST_COLUMNS = 10_000
"""Maximum number of columns of a table."""


def existing(path: str | Path, what: str = "file", *, parameter: str = "path") -> Path:
    """Return ``path`` as a :class:`~pathlib.Path` to an existing file, ``~`` expanded;
    a pipe is read to its end into a temporary file.

    Parameters
    ----------
    path : str or Path
        Path to check.
    what : str, default "file"
        Description of the file in messages.
    parameter : str, default "path"
        Name of the component's parameter that holds the path, for the error.

    Raises
    ------
    InputError
        When the path is empty, is a folder, or does not exist; the message names the
        nearest file of its folder.
    """
    if not isinstance(path, (str, Path)) or not str(path):
        raise InputError(
            f"the path of the {what} is {path!r}; expected text",
            parameter=parameter,
            value=path,
        )
    file = user_path(path)
    if not _is_possible(file):
        raise InputError(
            f"is no possible path of a {what}",
            str(path)[:200],
            parameter=parameter,
            value=str(path),
        )
    if file.is_dir():
        raise InputError(
            f"is a folder; expected a {what}",
            str(path),
            parameter=parameter,
            value=str(path),
        )
    if file.is_fifo():
        return spool_pipe(file)
    if not file.is_file():
        hint = (
            f"; did you mean '{nearest}'?" if (nearest := nearest_beside(file)) else ""
        )
        raise InputError(
            f"no such {what}{hint}", str(path), parameter=parameter, value=str(path)
        )
    return file


def _is_possible(path: Path) -> bool:
    """Return False for a path that the system does not accept: too long,
    or with a null byte.
    """
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except (ValueError, OSError) as error:
        return isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG
    return True


def open_plain(path: Path) -> IO[bytes]:
    """Open a file as bytes, decompressed when it is compressed with gzip or
    Zstandard.
    """
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == GZIP_MAGIC:
        return io.BufferedReader(BoundedGzip(path))  # type: ignore[arg-type]
    return (
        io.BufferedReader(BoundedZstandard(path))
        if magic == ZSTANDARD_MAGIC
        else path.open("rb")
    )


def is_parquet(path: Path) -> bool:
    """Return True when the file begins with the bytes of a Parquet file."""
    with path.open("rb") as file:
        return file.read(4) == PARQUET_MAGIC


def first_byte(path: Path) -> bytes:
    """Return the first byte that is not blank, or ``b""``: ``[`` begins a JSON list,
    ``{`` an object or JSON Lines.
    """
    with open_binary(path) as file:
        head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1]


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as decompressed bytes in a ``with`` block; raise :class:`InputError`
    when its gzip stream is broken.
    """
    with open_plain(path) as file:
        try:
            yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"the gzip file is broken or cut off: {error}", str(path)
            ) from error


# --------------------------------------------------------------------------- JSON
def load_json(path: Path, *, constants: bool = False) -> YamlValue:
    """Return the value of a JSON file, gzipped or not; raise :class:`InputError` with
    the byte offset of invalid JSON.

    ``constants`` accepts NaN and Infinity.
    """
    with open_binary(path) as file:
        data = file.read()
    return decode_json(data, str(path), complete=True, constants=constants)


class ConstantError(InputError):
    """NaN or Infinity in JSON, which the logs of some programs hold."""


class _Constant(Exception):
    """NaN or Infinity in place of a number."""


def _refuse_constant(name: str) -> YamlValue:
    raise _Constant(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_LENIENT = json.JSONDecoder()
"""Made once: a decoder for each line of a file takes as long as reading the line."""


def decode_json(
    data: bytes,
    location: str,
    *,
    offset: int = 0,
    complete: bool = False,
    constants: bool = False,
) -> YamlValue:
    """Return the JSON value in ``data``.

    Parameters
    ----------
    data : bytes
        UTF-8 text of one JSON value.
    location : str
        Place of the data for messages.
    offset : int, default 0
        Byte offset of ``data`` in its file.
    complete : bool, default False
        Treat ``data`` as a whole file: messages speak of the file in place of the line,
        and objects must not repeat a key.

    constants : bool, default False
        Accept NaN and Infinity, which are not JSON.

    Raises
    ------
    InputError
        For bytes that are not UTF-8, text that is not JSON, and NaN or Infinity.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
        offset = offset + 3
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = encoding_hint(re.sub(r":\d+$", "", location))
        raise InputError(
            f"not UTF-8 at byte {offset + error.start}: {error.reason}{hint}", location
        ) from error

    def unique_keys(pairs: list[tuple[str, Any]]) -> Values:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"the key '{twice}' occurs twice in one object", location)
        return mapping

    # A line of JSON Lines goes through one decoder that is made once; a whole file is
    # read once, and can afford to look at its keys: of a repeated key json keeps the
    # last value, which would lose captions without a word.
    try:
        if not complete and not text.startswith("\ufeff"):
            return (_LENIENT if constants else _DECODER).decode(text)
        refuse = None if constants else _refuse_constant
        return json.loads(
            text,
            parse_constant=refuse,
            object_pairs_hook=unique_keys if complete else None,
        )
    except _Constant as constant:
        raise ConstantError(
            f"found {constant}; JSON numbers are finite",
            location + _path_to_constant(text),
        ) from None
    except json.JSONDecodeError as error:
        # The error counts characters; editors and `head -c` count bytes. Behind the
        # end, the last byte of the content is the place.
        at = offset + len(text.rstrip()[: error.pos].encode("utf-8"))
        raise InputError(
            f"not JSON at byte {at}: {error.msg}{_cut_off(text, error, complete)}",
            location,
        ) from error
    except (ValueError, RecursionError) as error:
        # numbers of thousands of digits, lists nested thousands deep
        raise InputError(f"not readable as JSON: {error}", location) from error


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]|NaN|-?Infinity')


def _path_to_constant(text: str) -> str:
    """Return the keys and list items that lead to the first NaN or Infinity of a JSON
    text, such as ``: record 3: 'score'``.

    >>> _path_to_constant('{"annotations": [{"id": 1}, {"id": "NaN", "caption": NaN}]}')
    ": 'annotations': record 2: 'caption'"
    """
    # json.loads does not say where a constant was. Only a file that is refused is
    # scanned again, by its tokens: they need no stack of values, and strings are one
    # token each, so that brackets inside captions count for nothing. open lists: number
    # of the item; open objects: the last string
    path: list[int | str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "[{":
            path.append(1 if token == "[" else "")
        elif token in "]}":
            path.pop()
        elif token == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else ""
        elif not token.startswith('"'):
            break
        elif path and path[-1] == "":
            path[-1] = token[1:-1]
    return "".join(
        f": record {step}" if isinstance(step, int) else f": '{step}'" for step in path
    )


def _cut_off(text: str, error: json.JSONDecodeError, complete: bool) -> str:
    """Return a remark for the message of an error at the end of the text;
    empty for errors before the end.
    """
    if not text.strip():
        return " (the file is empty)" if complete else " (the line is empty)"
    content = text.rstrip()
    if error.pos < len(content) and not error.msg.startswith("Unterminated string"):
        return ""
    return (
        f" (the {'file' if complete else 'line'} breaks off after "
        f"{len(content.encode('utf-8'))} bytes)"
    )


# --------------------------------------------------------------------------- records
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
    # bytes before the line, for messages: the file may be larger than the memory, and
    # is never read as a whole
    offset = 0
    with open_binary(path) as file:
        for number, line in lines_of(file, str(path)):
            if line.strip():
                location = f"{path}:{number}"
                value = decode_json(line, location, offset=offset, constants=constants)
                if not isinstance(value, dict):
                    raise InputError(
                        f"found {kind(value)}; expected an object", location
                    )
                yield Record(location, value)
            offset += len(line)


def parquet_rows(
    path: Path, columns: Sequence[str] | None = None, *, batch: int | None = None
) -> Iterator[Record]:
    """Yield the rows of a Parquet file as Python values, all columns or those of
    ``columns``; ``batch`` rows are decoded at a time.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            _check_rows(path, file.metadata.num_rows)
            _check_columns(path, file.metadata.num_columns)
            # Rows of texts are large as Python objects: a batch of them at a time,
            # whatever the row groups of the writer.
            for rows in file.iter_batches(
                batch or PARQUET_BATCH, columns=list(columns) if columns else None
            ):
                for row in rows.to_pylist():
                    number += 1
                    yield Record(f"{path}: record {number}", row)
    except (ValueError, pa.ArrowNotImplementedError, OSError) as error:
        # ArrowInvalid, and names of columns that are no UTF-8
        raise InputError(
            f"not readable as Parquet after record {number}: {_one_line(error)}",
            str(path),
        ) from error


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


def _check_columns(path: Path, columns: int) -> None:
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


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    type(None): "null",
}


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


# --------------------------------------------------------------------------- identity of files
def fingerprint(name: str, paths: Sequence[Path], params: Parameters) -> str:
    """Return ``name:`` and a hash of the parameters and of the files' bytes, in order.

    A folder stands for the files in it, with their names; a part of a file
    (``FILE#PART``) for the file and the name of the part.
    """
    digest = hashlib.sha256(json.dumps(params, sort_keys=True, default=str).encode())
    for path in paths:
        if isinstance(path, PartPath):
            digest.update(path.part.encode())
        for file_path in sorted(path.iterdir()) if path.is_dir() else [path]:
            if not file_path.is_file():
                continue
            if path.is_dir():
                digest.update(file_path.name.encode())
            with file_path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{name}:{digest.hexdigest()[:32]}"


SUFFIXES = (".csv", ".tsv")
PACKED = (".gz", ".zst")
"""Endings of compressed files."""


def plain_name(path: Path) -> str:
    """Return the name of a file in small letters,
    without the ending of a compressed file.

    >>> plain_name(Path("folder/A.tsv.GZ"))
    'a.tsv'
    """
    name = path.name.lower()
    return next(
        (name.removesuffix(ending) for ending in PACKED if name.endswith(ending)), name
    )


def is_table_file(path: Path) -> bool:
    """Return True for a file whose name ends with ``.csv`` or ``.tsv``,
    compressed or not.
    """
    return plain_name(path).endswith(SUFFIXES)


def delimiter_of(header: str, path: Path) -> str:
    """Return the delimiter of a header line: a tab, else a comma, else a semicolon or
    ``|`` where the line has no comma.
    """
    if "\t" in header or ".tsv" in path.name.lower():
        return "\t"
    return next((mark for mark in (",", ";", "|") if mark in header), ",")


def header_cells(line: str, path: Path) -> list[str]:
    """Return the cells of a header line, without the blanks around them; empty for a
    line that is no row of a table.
    """
    try:
        return [
            cell.strip()
            for cell in next(
                csv.reader([line], delimiter=delimiter_of(line, path)), list[str]()
            )
        ]
    except csv.Error:
        return []


def delimited_rows(path: Path, *, quoted_tabs: bool = False) -> Iterator[Record]:
    """Yield the rows of a table, all values as text; an empty cell is None.

    Tabs separate where the name says ``.tsv`` or the header holds a tab; a cell between
    them may be quoted or not (:func:`~harness.files.delimited.tab_separated_cells`),
    with ``quoted_tabs`` as the csv module has it. Semicolons or ``|`` separate where
    the header holds them and no comma, and the mark of a line ``sep=;`` before the
    header, as Excel reads it.

    Raises :class:`InputError` with the line of a row of another length, a column that
    occurs twice, and bytes that are not UTF-8.
    """
    with (
        open_binary(path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        try:
            first = text.readline()
            declared = re.fullmatch(r"sep=(.)\r?\n?", first)
            before = 1 if declared else 0
            first = text.readline() if declared else first
            delimiter = declared[1] if declared else delimiter_of(first, path)
            header = [
                cell.strip()
                for cell in next(csv.reader([first], delimiter=delimiter), list[str]())
            ]
            named = len(header)
            # empty columns behind a table of a spreadsheet
            while named > 2 and header[named - 1] == header[named - 2] == "":
                named -= 1
            named -= named < len(header)
            if not header:
                raise InputError(
                    "the file is empty; expected a header line and rows", str(path)
                )
            _check_columns(path, len(header))
            twice = next(
                (name for name, count in Counter(header[:named]).items() if count > 1),
                None,
            )
            if twice is not None:
                raise InputError(
                    f"the column '{twice}' occurs twice", f"{path}:{before + 1}"
                )
            lines = lines_of(text, str(path))
            plain_tabs = delimiter == "\t" and not quoted_tabs
            rows = (
                tab_separated_cells(lines, len(header))
                if plain_tabs
                else _csv_cells(lines, delimiter)
            )
            for number, row in _without_last_blank(rows):
                location = f"{path}:{before + number + 1}"
                if len(row) != len(header):
                    quotes = (
                        "; a cell with commas needs quotes"
                        if delimiter == "," and len(row) > len(header)
                        else ""
                    )
                    raise InputError(
                        f"{len(row)} cells; expected {len(header)}, "
                        f"as in the header{quotes}",
                        location,
                    )
                if any(row[named:]):
                    raise InputError("a cell has no name of its column", location)
                yield Record(
                    location,
                    {name: cell or None for name, cell in zip(header[:named], row)},
                )
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8: {error.reason} at byte {error.start}{encoding_hint(path)}",
                str(path),
            ) from error
        except csv.Error as error:
            raise InputError(f"not readable as a table: {error}", str(path)) from error


def _without_last_blank(
    rows: Iterator[tuple[int, list[str]]],
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table up to the last one with a cell that is not empty:
    spreadsheets write rows without content.
    """
    waiting: list[tuple[int, list[str]]] = []
    for number, row in rows:
        if not any(row):
            waiting.append((number, row))
            continue
        yield from waiting
        waiting.clear()
        yield number, row


def _csv_cells(
    lines: Iterator[tuple[int, str]], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line and the cells of each row, as the csv module
    reads them; blank lines are left out.
    """
    reader = csv.reader(
        (line for _, line in lines),
        delimiter=delimiter,
        skipinitialspace=delimiter == "|",
    )
    for row in reader:
        if row:
            yield reader.line_num, row
