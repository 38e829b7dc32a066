"""Reading users' files: JSON, JSON Lines and Parquet, gzipped or not, with errors that say where.

Whether a file is gzipped, Parquet, a JSON list or JSON Lines is told by its content, not by its name. Text is UTF-8 and kept
as it is. Every error is an :class:`~harness.errors.InputError` that begins with ``file``, ``file:line`` or ``file: record 3``.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"


class Record(NamedTuple):
    """One line, list item or row, and where it stands."""

    where: str
    fields: Mapping[str, Any]


def existing(path: str | Path, what: str = "file") -> Path:
    """The path as a :class:`~pathlib.Path`. Raises :class:`InputError` when it is no file."""
    if not isinstance(path, (str, Path)) or not str(path):
        raise InputError(f"the path of the {what} is {path!r}; expected text")
    found = Path(path).expanduser()
    if found.is_dir():
        raise InputError(f"is a folder; expected a {what}", str(path))
    if not found.is_file():
        near = found.parent if found.parent.is_dir() else None
        raise InputError(f"no such {what}{_near_file(found, near)}", str(path))
    return found


def _near_file(wanted: Path, folder: Path | None) -> str:
    from harness.errors import did_you_mean

    return did_you_mean(wanted.name, sorted(item.name for item in folder.iterdir())) if folder else ""


def open_plain(path: Path) -> IO[bytes]:
    """The file's bytes, gunzipped where it is gzipped."""
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP_MAGIC
    return io.BufferedReader(gzip.GzipFile(path)) if zipped else path.open("rb")  # type: ignore[arg-type]


def is_parquet(path: Path) -> bool:
    """Whether the file begins as a Parquet file does."""
    with path.open("rb") as file:
        return file.read(4) == PARQUET_MAGIC


def first_byte(path: Path) -> bytes:
    """The first byte that is not blank (b"" for an empty file): ``[`` begins a JSON list, ``{`` JSON Lines or an object."""
    with opened(path) as file:
        head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1]


class opened:
    """Opens a file for reading and tells a broken gzip stream as an :class:`InputError`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> IO[bytes]:
        self.file = open_plain(self.path)
        return self.file

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.file.close()
        if isinstance(error, (EOFError, gzip.BadGzipFile, zlib.error)):
            raise InputError(f"the gzip file is broken or cut off: {error}", str(self.path)) from error


# --------------------------------------------------------------------------- JSON
def load_json(path: Path) -> Any:
    """The value of a JSON file (gzipped or not). Raises :class:`InputError` with the byte offset where it is not JSON."""
    with opened(path) as file:
        data = file.read()
    return parse_json(data, str(path), complete=True)


def parse_json(data: bytes, where: str, *, offset: int = 0, complete: bool = False) -> Any:
    """The JSON value in ``data``, which begins at byte ``offset`` of its file.

    Raises :class:`InputError` for bytes that are no UTF-8, text that is no JSON, and NaN or Infinity, which JSON lacks.
    ``complete``: ``data`` is the whole file (told when it breaks off).
    """
    if data.startswith(b"\xef\xbb\xbf"):
        data, offset = data[3:], offset + 3
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {offset + error.start}: {error.reason}", where) from error

    def no_constant(name: str) -> Any:
        raise InputError(f"found {name}; JSON numbers are finite", where + _place_of_constant(text))

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"the key '{twice}' occurs twice in one object", where)
        return made

    try:
        return json.loads(text, parse_constant=no_constant, object_pairs_hook=unique if complete else None)
    except json.JSONDecodeError as error:
        at = offset + len(text.rstrip()[: error.pos].encode("utf-8"))
        raise InputError(f"not JSON at byte {at}: {error.msg}{_cut_off(text, error, complete)}", where) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists nested thousands deep
        raise InputError(f"not readable as JSON: {error}", where) from error


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]|NaN|-?Infinity')


def _place_of_constant(text: str) -> str:
    """``: record 3: 'score'``, the keys and list items that lead to the first NaN or Infinity of a JSON text; none at its top.

    >>> _place_of_constant('{"annotations": [{"id": 1}, {"id": "NaN", "caption": NaN}]}')
    ": 'annotations': record 2: 'caption'"
    """
    path: list[int | str] = []  # of each open list the number of its item, of each open object the string seen last
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
    return "".join(f": record {step}" if isinstance(step, int) else f": '{step}'" for step in path)


def _cut_off(text: str, error: json.JSONDecodeError, complete: bool) -> str:
    if not text.strip():
        return " (the file is empty)" if complete else " (the line is empty)"
    held = text.rstrip()
    if error.pos < len(held) and not error.msg.startswith("Unterminated string"):
        return ""
    return f" (the {'file' if complete else 'line'} breaks off after {len(held.encode('utf-8'))} bytes)"


# --------------------------------------------------------------------------- records
def records(path: Path) -> Iterator[Record]:
    """The records of a Parquet file, a JSON list of objects, or JSON Lines."""
    if is_parquet(path):
        yield from parquet_rows(path)
    elif first_byte(path) == b"[":
        yield from list_items(load_json(path), str(path))
    else:
        yield from json_lines(path)


def list_items(value: Any, where: str) -> Iterator[Record]:
    """The items of a list of objects; raises :class:`InputError` for anything else."""
    if not isinstance(value, list):
        raise InputError(f"found {kind(value)}; expected a list of objects", where)
    for number, item in enumerate(value, 1):
        at = f"{where}: record {number}"
        if not isinstance(item, dict):
            raise InputError(f"found {kind(item)}; expected an object", at)
        yield Record(at, item)


def json_lines(path: Path) -> Iterator[Record]:
    """The objects of a JSON Lines file, one a line; blank lines are passed over."""
    offset = 0
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{path}:{number}"
                value = parse_json(line, where, offset=offset)
                if not isinstance(value, dict):
                    raise InputError(f"found {kind(value)}; expected an object", where)
                yield Record(where, value)
            offset += len(line)


def parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Record]:
    """The rows of a Parquet file as plain Python values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(4096, columns=list(columns) if columns else None):
                for row in batch.to_pylist():
                    number += 1
                    yield Record(f"{path}: record {number}", row)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(f"not readable as Parquet after record {number}: {_one_line(error)}", str(path)) from error


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


def kind(value: Any) -> str:
    """What a JSON value is, in words.

    >>> kind([]), kind(None), kind(3)
    ('a list', 'null', 'the number 3')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


# --------------------------------------------------------------------------- identity of files
def fingerprint(name: str, paths: Sequence[Path], params: Mapping[str, Any]) -> str:
    """``name:`` and a hash of the parameters and of the files' bytes, in order."""
    digest = hashlib.sha256(json.dumps(params, sort_keys=True, default=str).encode())
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{name}:{digest.hexdigest()[:32]}"
