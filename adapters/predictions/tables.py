"""Readers of prediction files: tables of captions by id, for every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError, did_you_mean
from harness.files import captions, records
from harness.tasks.readers.vdtk import vdtk_records

FORMATS = ("auto", "coco", "jsonl", "parquet", "vdtk", "mapping")
CANDIDATE_COLUMNS = ("candidates", "captions", "predictions", "caption", "prediction", "systems")
"""Usual names of the column of captions; the first that is present is used."""


@dataclass
class Table:
    """Captions of one file by id, in the order of the file."""

    path: Path
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Captions by id."""
    null: dict[str, None] = field(default_factory=dict)
    """Ids whose captions are null, as an ordered set."""
    _complete: set[str] = field(default_factory=set)
    """Ids with a list of captions in one record; further records of these ids are an error."""

    def add(self, key: str, texts: tuple[str, ...] | None, *, single: bool, where: str) -> None:
        """Add the captions of a record; raise :class:`InputError` for an id that already has a list of captions.

        Parameters
        ----------
        key
            Id of the example.
        texts
            Captions, or None for null.
        single
            True for a record with one caption; several such records of an id form its set.
        where
            Location of the record, for messages.
        """
        present = key in self.captions or key in self.null
        if present and not (single and key not in self._complete):
            raise InputError(f"the id '{key}' occurs twice", where)
        if not single:
            self._complete.add(key)
        if texts:
            self.captions[key] = self.captions.get(key, ()) + texts
            self.null.pop(key, None)
        elif key not in self.captions:
            self.null[key] = None


@dataclass(frozen=True)
class Choice:
    """Selection of columns and systems in the records of a file."""

    id: str | None = None
    """Column of the ids; None: a usual name."""
    candidates: str | None = None
    """Column of the captions; None: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to select from objects of systems."""
    allow_empty: bool = False
    """True if empty captions are accepted."""


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """Return the captions of a file; raise :class:`InputError` with the line or record that does not fit the format ``form``."""
    form = detect(path) if form == "auto" else form
    if form == "parquet" and not records.is_parquet(path):
        raise InputError("not a Parquet file", str(path))
    table = Table(path)
    if form == "coco":
        _fill(table, _coco_records(path), choice)
    elif form == "vdtk":
        rows, ids = vdtk_records(path)
        for row, key in zip(rows, ids):
            _add(table, key, row, choice.candidates or "candidates", choice)
    elif form == "mapping":
        _fill_mapping(table, choice)
    else:
        _fill(table, records.records(path), choice)
    if not table.captions and not table.null:
        raise InputError("the file holds no predictions", str(path))
    return table


def detect(path: Path) -> str:
    """Return the format of a file, detected from its content.

    - ``parquet``: a Parquet file;
    - ``coco``: a JSON list of objects with ``image_id`` and ``caption``, or an object with ``annotations``;
    - ``vdtk``: a JSON list of objects with ``candidates`` and without ids;
    - ``mapping``: an object of ids and lists;
    - ``jsonl``: any other JSON list, and JSON Lines.

    Raises :class:`InputError` for an empty file.
    """
    if records.is_parquet(path):
        return "parquet"
    first_byte = records.first_byte(path)
    if first_byte == b"":
        raise InputError("the file is empty", str(path))
    if first_byte == b"[":
        value = records.load_json(path)
        first = value[0] if value else None
        if isinstance(first, dict):
            if "image_id" in first and "caption" in first:
                return "coco"
            if "candidates" in first and not any(name in first for name in captions.ID_COLUMNS):
                return "vdtk"
        return "jsonl"
    return _format_of_object(path)


def _format_of_object(path: Path) -> str:
    """Return the format of a file whose first character is not ``[``: ``coco``, ``mapping`` or ``jsonl``."""
    try:
        record = next(records.json_lines(path), None)
        first = record.fields if record else {}
    except (
        InputError
    ):  # the first line is not an object: an object over several lines, or invalid JSON, which load_json reports
        first = records.load_json(path)
    if not isinstance(first, dict):
        return "jsonl"
    if "annotations" in first:
        return "coco"
    return "mapping" if first and all(isinstance(value, list) for value in first.values()) else "jsonl"


def _fill_mapping(table: Table, choice: Choice) -> None:
    value = records.load_json(table.path)
    if not isinstance(value, dict):
        raise InputError(
            f"found {records.kind(value)}; expected an object of ids with lists of captions", str(table.path)
        )
    for name, content in value.items():
        where = f"{table.path}: '{name}'"
        texts = None if content is None else captions.captions(content, where, allow_empty=choice.allow_empty)
        table.add(captions.identity(name, where, "id"), texts, single=False, where=where)


def _coco_records(path: Path) -> Iterator[records.Record]:
    value = records.load_json(path)
    if isinstance(value, dict) and "annotations" in value:
        return records.list_items(value["annotations"], f"{path}: annotations")
    return records.list_items(value, str(path))


# --------------------------------------------------------------------------- records
def _fill(table: Table, rows: Iterable[records.Record], choice: Choice) -> None:
    names: tuple[str, str] | None = None
    for row in rows:
        names = names or _names(row, choice)
        key = captions.identity(row.fields.get(names[0]), row.where, names[0])
        _add(table, key, row, names[1], choice)


def _names(row: records.Record, choice: Choice) -> tuple[str, str]:
    """Return the columns of ids and captions, from the first record; raise :class:`InputError` if one is missing."""
    columns = []
    for what, parameter, usual in (
        ("id", choice.id, captions.ID_COLUMNS),
        ("candidates", choice.candidates, CANDIDATE_COLUMNS),
    ):
        name = parameter or next((name for name in usual if name in row.fields), None)
        if name is None or name not in row.fields:
            hint = did_you_mean(parameter, row.fields) if parameter else f" (name it with {what}: ...)"
            problem = f"no column '{parameter}'" if parameter else f"no column for {what}"
            raise InputError(f"{problem}{hint}; found {', '.join(repr(key) for key in row.fields)}", row.where)
        columns.append(name)
    return columns[0], columns[1]


def _add(table: Table, key: str, row: records.Record, column: str, choice: Choice) -> None:
    if column not in row.fields:
        raise InputError(f"the record has no '{column}'", row.where)
    value = row.fields[column]
    if choice.systems or _is_systems(value):
        value, single = _of_systems(value, column, row.where, choice.systems), False
    else:
        single = not isinstance(value, (list, tuple))
    texts = None if value is None else captions.captions(value, row.where, allow_empty=choice.allow_empty)
    table.add(key, texts, single=single, where=row.where)


def _is_systems(value: Any) -> bool:
    return isinstance(value, Mapping) and not ("caption" in value or "raw" in value)


def _of_systems(value: Any, column: str, where: str, systems: Sequence[str]) -> list[Any] | None:
    """Return the captions of the selected systems in their order; None if all of them are null."""
    if not _is_systems(value):
        raise InputError(
            f"'{column}' is {records.kind(value)}; expected an object of systems (because of system: ...)", where
        )
    if not systems:
        raise InputError(f"'{column}' holds {len(value)} systems; choose with system: {', '.join(value)}", where)
    texts: list[Any] = []
    for name in systems:
        if name not in value:
            raise InputError(f"no system '{name}'{did_you_mean(name, value)}; found {', '.join(value)}", where)
        content = value[name]
        if content is not None:
            texts.extend(content if isinstance(content, (list, tuple)) else [content])
    return texts or None
