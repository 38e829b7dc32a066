"""Prediction files as tables: id -> captions, for each of the formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError, did_you_mean
from harness.files import captions as checks
from harness.files import records as files
from harness.tasks.readers.vdtk import vdtk_records

FORMATS = ("auto", "coco", "jsonl", "parquet", "vdtk", "mapping")
CANDIDATE_COLUMNS = ("candidates", "captions", "predictions", "caption", "prediction", "systems")
"""Where captions are looked for, in this order."""


@dataclass
class Table:
    """The captions of one file by id, in file order. ``nothing`` holds the ids for which the file says null."""

    path: Path
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nothing: dict[str, None] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)
    """Ids whose captions came in one record, so that no other record may add to them."""

    def add(self, key: str, texts: tuple[str, ...] | None, *, single: bool, where: str) -> None:
        """Captions of a record. Records with one caption each gather under their id; a second list for an id is an error."""
        known = key in self.captions or key in self.nothing
        if known and not (single and key not in self._whole):
            raise InputError(f"the id '{key}' occurs twice", where)
        if not single:
            self._whole.add(key)
        if texts:
            self.captions[key] = self.captions.get(key, ()) + texts
            self.nothing.pop(key, None)
        elif key not in self.captions:
            self.nothing[key] = None


@dataclass(frozen=True)
class Choice:
    """What to take from a file's records."""

    id: str | None = None
    candidates: str | None = None
    systems: tuple[str, ...] = ()
    allow_empty: bool = False


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """The captions of a file. Raises :class:`InputError` for what is no such file, with the line or record at fault."""
    form = detect(path) if form == "auto" else form
    if form == "parquet" and not files.is_parquet(path):
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
        _fill(table, files.records(path), choice)
    if not table.captions and not table.nothing:
        raise InputError("the file holds no predictions", str(path))
    return table


def detect(path: Path) -> str:
    """The format of a file, told by its content: parquet; a JSON list of ``image_id`` and ``caption`` (coco), or of
    ``candidates`` without ids (vdtk); an object with ``annotations`` (coco) or of ids with lists (mapping); else records (jsonl)."""
    if files.is_parquet(path):
        return "parquet"
    begins = files.first_byte(path)
    if begins == b"":
        raise InputError("the file is empty", str(path))
    if begins == b"[":
        value = files.load_json(path)
        first = value[0] if value else None
        if isinstance(first, dict):
            if "image_id" in first and "caption" in first:
                return "coco"
            if "candidates" in first and not any(name in first for name in checks.ID_COLUMNS):
                return "vdtk"
        return "jsonl"
    return _format_of_object(path)


def _format_of_object(path: Path) -> str:
    """Of a file that begins with ``{``: one object with ``annotations`` (coco), one of ids and lists (mapping), or JSON Lines."""
    try:
        found = next(files.json_lines(path), None)
        first = found.fields if found else {}
    except InputError:  # no object on its first line: one object over many lines, or broken, which reading it will tell
        first = files.load_json(path)
    if not isinstance(first, dict):
        return "jsonl"
    if "annotations" in first:
        return "coco"
    return "mapping" if first and all(isinstance(value, list) for value in first.values()) else "jsonl"


def _fill_mapping(table: Table, choice: Choice) -> None:
    value = files.load_json(table.path)
    if not isinstance(value, dict):
        raise InputError(
            f"found {files.kind(value)}; expected an object of ids with lists of captions", str(table.path)
        )
    for name, given in value.items():
        where = f"{table.path}: '{name}'"
        texts = None if given is None else checks.captions(given, where, allow_empty=choice.allow_empty)
        table.add(checks.identity(name, where, "id"), texts, single=False, where=where)


def _coco_records(path: Path) -> Iterator[files.Record]:
    value = files.load_json(path)
    if isinstance(value, dict) and "annotations" in value:
        return files.list_items(value["annotations"], f"{path}: annotations")
    return files.list_items(value, str(path))


# --------------------------------------------------------------------------- records
def _fill(table: Table, rows: Iterable[files.Record], choice: Choice) -> None:
    names: tuple[str, str] | None = None
    for row in rows:
        names = names or _names(row, choice)
        key = checks.identity(row.fields.get(names[0]), row.where, names[0])
        _add(table, key, row, names[1], choice)


def _names(row: files.Record, choice: Choice) -> tuple[str, str]:
    """The columns of ids and captions, settled by the first record."""
    found = []
    for what, given, usual in (
        ("id", choice.id, checks.ID_COLUMNS),
        ("candidates", choice.candidates, CANDIDATE_COLUMNS),
    ):
        name = given or next((name for name in usual if name in row.fields), None)
        if name is None or name not in row.fields:
            hint = did_you_mean(given, row.fields) if given else f" (name it with {what}: ...)"
            told = f"no column '{given}'" if given else f"no column for {what}"
            raise InputError(f"{told}{hint}; found {', '.join(repr(key) for key in row.fields)}", row.where)
        found.append(name)
    return found[0], found[1]


def _add(table: Table, key: str, row: files.Record, column: str, choice: Choice) -> None:
    if column not in row.fields:
        raise InputError(f"the record has no '{column}'", row.where)
    value = row.fields[column]
    if choice.systems or _is_systems(value):
        value, single = _of_systems(value, column, row.where, choice.systems), False
    else:
        single = not isinstance(value, (list, tuple))
    texts = None if value is None else checks.captions(value, row.where, allow_empty=choice.allow_empty)
    table.add(key, texts, single=single, where=row.where)


def _is_systems(value: Any) -> bool:
    return isinstance(value, Mapping) and not ("caption" in value or "raw" in value)


def _of_systems(value: Any, column: str, where: str, systems: Sequence[str]) -> list[Any] | None:
    """The captions of the systems asked for, in that order; None where all say null."""
    if not _is_systems(value):
        raise InputError(f"'{column}' is {files.kind(value)}; expected an object of systems (system was given)", where)
    if not systems:
        raise InputError(f"'{column}' holds {len(value)} systems; choose with system: {', '.join(value)}", where)
    chosen: list[Any] = []
    for name in systems:
        if name not in value:
            raise InputError(f"no system '{name}'{did_you_mean(name, value)}; found {', '.join(value)}", where)
        given = value[name]
        if given is not None:
            chosen.extend(given if isinstance(given, (list, tuple)) else [given])
    return chosen or None
