"""Forms of files of captions: the content decides how the records of a file are read.

:func:`read_form` brings every form to records with columns, which the readers of data sets and the adapter for predictions share.
``docs/data-formats.md`` lists the forms.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files import neighbours
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.records import (
    Record,
    delimited_rows,
    delimiter_of,
    first_byte,
    header_cells,
    is_parquet,
    is_table_file,
    json_lines,
    kind,
    list_items,
    load_json,
    open_binary,
    parquet_rows,
    records,
    utf16_hint,
)
from harness.files.streams import lines_of
from harness.files.yaml_source import YamlValue

Role = Literal["candidates", "references"]
"""Captions that a file is read for."""
_SHARED = ("annotations", "results", "result", "captions", "data", "samples", "items", "examples", "records")
WRAPPERS: Mapping[str, tuple[str, ...]] = {
    "candidates": ("predictions", "candidates", "hypotheses", "generations", "outputs", *_SHARED),
    "references": ("references", *_SHARED),
}
"""Role -> keys of an object that hold the records of a file, in order of preference."""
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Form:
    """Records of a file and the name of its form."""

    name: str
    rows: Iterable[Record]
    numbered: bool = False
    """True for records without ids: the k-th record belongs to the k-th example."""
    key: str = ""
    """Key of the object that holds the records; empty when the file is not wrapped."""
    ids: tuple[str, ...] = ()
    """Columns of ids that the form knows, in order of preference."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """What is not read -> its number, filled while the records are read."""

    def head(self) -> tuple[Record | None, Form]:
        """Return the first record, None for a file without records, and the form with all records."""
        rows = iter(self.rows)
        start = list(islice(rows, 1))
        return (start[0] if start else None), replace(self, rows=chain(start, rows))


def read_form(path: Path, role: Role, names: Sequence[str] = (), form: str | None = None) -> Form:
    """Return the records of a file.

    Parameters
    ----------
    path : Path
        An existing file; all forms but Parquet may be gzipped.
    role : {"candidates", "references"}
        Captions to read, where a file holds both.
    names : sequence of str
        Names of columns in parameters of the user; a line or object with one of them is a header or a record.
    form : str, optional
        A key of :data:`FORMS`; default: the content decides.

    Raises
    ------
    InputError
        For an empty file, text that is not UTF-8, invalid JSON and an unknown form.
    """
    if form is not None:
        if form not in FORMS:
            raise InputError.of_name("unknown format", form, FORMS, "formats are")
        return FORMS[form](path)
    # From the surest sign to the weakest: magic bytes, then the first byte of the text, then header and columns. The name decides
    # only where content cannot: a caption may begin with a bracket (.txt), and broken JSON is no text file (.json).
    if is_parquet(path):
        return Form("parquet", parquet_rows(path))
    if neighbours.is_archive(path):
        return Form("inspect", neighbours.inspect_archive(path))
    first = first_byte(path)
    if first == b"":
        raise InputError("the file is empty", str(path))
    if first in (b"[", b"{"):
        try:
            return _of_list(load_json(path), str(path)) if first == b"[" else _of_objects(path, role, names)
        except InputError:
            if not path.name.lower().removesuffix(".gz").endswith(".txt"):
                raise
    elif path.name.lower().removesuffix(".gz").endswith(JSON_SUFFIXES):
        load_json(path)
    name, rows = text_form(path, names)
    return Form(name, rows, numbered=name == "txt")


def single_object(path: Path) -> Parameters | None:
    """Return the object of a file that holds exactly one JSON object, or None for JSON Lines with several records."""
    lines = json_lines(path)
    try:
        first = next(lines, None)
    except InputError:  # an object over several lines, a log with NaN, or invalid JSON, which load_json reports
        if _is_lm_eval_file(path):
            return None
        value = _load_object(path)
        if not isinstance(value, dict):
            raise InputError(f"found {kind(value)}; expected an object", str(path)) from None
        return value
    try:
        more = next(lines, None) is not None
    except InputError:  # reported when the records are read
        more = True
    return None if more or first is None else dict(load_json(path))


def _is_lm_eval_file(path: Path) -> bool:
    """Return True for a file that begins with a line of samples of lm-eval, whose scores may be NaN."""
    try:
        first = next(json_lines(path, constants=True), None)
    except InputError:
        return False
    return first is not None and _is_lm_eval(first.fields.keys())


def _load_object(path: Path) -> YamlValue:
    """Return the value of a JSON file; NaN, which inspect writes for a sample without a score, is read in its logs alone."""
    try:
        return load_json(path)
    except InputError:
        with suppress(InputError):
            value = load_json(path, constants=True)
            if neighbours.is_inspect_log(value):
                return value
        raise


# --------------------------------------------------------------------------- JSON
def _of_list(value: YamlValue, location: str, key: str = "") -> Form:
    """Return the form of a JSON list: texts or lists of texts by position, or objects."""
    if isinstance(value, list) and value and all(_is_texts(item) for item in value):
        rows = [Record(f"{location}: record {number}", {"captions": item}) for number, item in enumerate(value, 1)]
        return Form("list", rows, numbered=True, key=key)
    rows = list_items(value, location)
    if isinstance(value, list) and value and isinstance(value[0], dict) and _is_lm_eval(value[0].keys()):
        return Form("lm-eval", neighbours.lm_eval_rows(rows), key=key)
    return Form("json", rows, key=key)


def _is_lm_eval(names: Set[str]) -> bool:
    """Return True for the fields of a line of samples of lm-eval."""
    return "doc_id" in names and bool(names & neighbours.LM_EVAL_RESPONSES)


def _is_texts(item: YamlValue) -> bool:
    return isinstance(item, str) or (isinstance(item, list) and bool(item) and all(isinstance(x, str) for x in item))


def _of_objects(path: Path, role: Role, names: Sequence[str]) -> Form:
    value = single_object(path)
    if value is None:
        if _is_lm_eval_file(path):
            return Form("lm-eval", neighbours.lm_eval_rows(json_lines(path, constants=True)))
        return Form("jsonl", json_lines(path))
    if neighbours.is_inspect_log(value):
        return Form("inspect", neighbours.inspect_rows(value, str(path)))
    if _is_lm_eval(value.keys()):
        return Form("lm-eval", neighbours.lm_eval_rows([Record(f"{path}:1", value)]))
    if not _is_record(value, names):
        for key in WRAPPERS[role]:
            inner = value.get(key)
            if isinstance(inner, list) or (key in value and key == "annotations"):
                return _of_list(inner, f"{path}: {key}", key)
            if isinstance(inner, dict) and (below := next((name for name in WRAPPERS[role] if _holds_records(inner.get(name))), "")):
                return _of_list(inner[below], f"{path}: {key}: {below}", below)
            if isinstance(inner, dict) and is_mapping(inner, names):
                return Form("mapping", mapping_rows(inner, f"{path}: {key}", names), key=key)
        if is_mapping(value, names):
            return Form("mapping", mapping_rows(value, str(path), names))
    return Form("jsonl", [Record(f"{path}:1", value)] if value else [])


def _holds_records(value: YamlValue) -> bool:
    """Return True for a list whose first item is an object with a column of ids."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and any(name in value[0] for name in FILE_ID_COLUMNS)


def _is_record(value: Parameters, names: Sequence[str]) -> bool:
    """Return True for an object with columns of a record: one of the user's, or those of an id and of captions."""
    captions = (*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS)
    identified = any(isinstance(value.get(name), (str, int)) for name in FILE_ID_COLUMNS)
    return any(name in value for name in names) or (identified and any(name in value for name in captions))


def is_mapping(value: Parameters, names: Sequence[str] = ()) -> bool:
    """Return True for an object of ids with captions: texts, lists, null, or objects with captions."""
    return bool(value) and all(
        item is None or isinstance(item, (str, list)) or (isinstance(item, dict) and _has_captions(item, names)) for item in value.values()
    )


def _has_captions(item: Parameters, names: Sequence[str]) -> bool:
    return any(name in item for name in (*names, "raw", *CANDIDATE_COLUMNS, *REFERENCE_COLUMNS))


def mapping_rows(value: Parameters, location: str, names: Sequence[str] = ()) -> Iterator[Record]:
    """Yield one record per id of an object ``{id: captions}``; objects with several columns keep them."""
    for name, item in value.items():
        content = isinstance(item, dict) and not {"caption", "raw"} & set(item)
        yield Record(f"{location}: '{name}'", {**item, "id": name} if content else {"id": name, "captions": item})


def _json_mapping(path: Path) -> Form:
    value = load_json(path)
    if not isinstance(value, dict):
        raise InputError(f"found {kind(value)}; expected an object of ids with lists of captions", str(path))
    return Form("mapping", mapping_rows(value, str(path)))


def _inspect(path: Path) -> Form:
    if neighbours.is_archive(path):
        return Form("inspect", neighbours.inspect_archive(path))
    value = load_json(path, constants=True)
    if not neighbours.is_inspect_log(value):
        raise InputError("is no log of inspect: it lacks 'eval' and 'samples'", str(path))
    return Form("inspect", neighbours.inspect_rows(value, str(path)))


def _lm_eval(path: Path) -> Form:
    return Form("lm-eval", neighbours.lm_eval_rows(records(path, constants=True)))


FORMS: Mapping[str, Callable[[Path], Form]] = {
    "mapping": _json_mapping, "list": lambda path: _of_list(load_json(path), str(path)),
    "csv": lambda path: Form("csv", table_rows(path)), "tsv": lambda path: Form("tsv", table_rows(path)),
    "pairs": lambda path: Form("pairs", two_column_rows(path)), "flickr": lambda path: Form("flickr", flickr_rows(path)),
    "txt": lambda path: Form("txt", line_rows(path), numbered=True), "lm-eval": _lm_eval, "inspect": _inspect,
}  # fmt: skip
"""Forms that a user can name: name -> function from the path to the records."""


_FLICKR = re.compile(r"([^\t]+)#(\d+)\t(.*)")


def text_form(path: Path, names: Sequence[str] = ()) -> tuple[str, Iterator[Record]]:
    """Return the name and the records of a text file: ``flickr``, ``tsv``, ``csv``, ``pairs`` (id TAB caption) or ``txt``.

    Parameters
    ----------
    path : Path
        File of UTF-8 text, gzipped or not.
    names : sequence of str
        Names of columns in parameters of the user; a first line with one of them is a header.

    Raises
    ------
    InputError
        For text that is not UTF-8.
    """
    # The first line alone decides, in the order of how little can be mistaken for the form: `image#0 TAB caption` is nothing else; two
    # columns without a known name are an id and a caption; a header must name captions and something more; all else is captions.
    first = next((line for _, line in read_lines(path)), "")
    if _FLICKR.fullmatch(first):
        return "flickr", flickr_rows(path)
    cells = header_cells(first, path)
    tabs = "\t" in first
    header = _is_header(cells, names)
    if tabs and len(cells) == 2 and not header and not any(cell in names for cell in cells):
        return "pairs", two_column_rows(path)
    if is_table_file(path) or header:
        return "tsv" if delimiter_of(first, path) == "\t" else "csv", table_rows(path)
    return "txt", line_rows(path)


def _is_header(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Return True for cells that name a column of captions, and a column of ids or another one."""
    captions = any(cell in (*names, *CANDIDATE_COLUMNS, *REFERENCE_COLUMNS) for cell in cells)
    return len(cells) > 1 and captions and any(cell in (*names, *FILE_ID_COLUMNS) for cell in cells)


def table_rows(path: Path) -> Iterator[Record]:
    """Yield the rows of a table with a header line; an empty cell is an empty text."""
    for row in delimited_rows(path):
        yield Record(row.where, {name: "" if cell is None else cell for name, cell in row.fields.items()})


def line_rows(path: Path) -> Iterator[Record]:
    """Yield one record per line, with the column ``caption``; an empty line is an empty caption."""
    for number, line in read_lines(path):
        yield Record(f"{path}:{number}", {"caption": line})


def two_column_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``id TAB caption``; raise :class:`InputError` for a line without a tab."""
    for number, line in read_lines(path):
        name, tab, text = line.partition("\t")
        if not tab and line.strip():
            raise InputError("the line has no tab; expected an id, a tab and a caption", f"{path}:{number}")
        if tab:
            yield Record(f"{path}:{number}", {"id": name, "caption": text})


def flickr_rows(path: Path) -> Iterator[Record]:
    """Yield the records ``id`` and ``caption`` of lines ``image.jpg#0 TAB caption``; raise :class:`InputError` for another line."""
    for number, line in read_lines(path):
        match = _FLICKR.fullmatch(line)
        if match is None and line.strip():
            raise InputError(f"found {line!r:.60}; expected image#number, a tab and a caption", f"{path}:{number}")
        if match is not None:
            yield Record(f"{path}:{number}", {"id": match[1], "caption": match[3]})


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file from 1, without line ends; the last line may lack one."""
    with open_binary(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
        try:
            for number, line in lines_of(text, str(path)):
                yield number, line.removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            hint = utf16_hint(error.object, str(path))
            raise InputError(f"not UTF-8 at byte {error.start}: {error.reason}{hint}", str(path)) from error
