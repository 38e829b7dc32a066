"""Tables of captions by id, from prediction files of every format."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError, did_you_mean
from harness.files import captions, forms, records
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, MOST_NAMES
from harness_tasks.readers.vdtk import ids_of_vdtk

FORMATS = ("auto", "coco", "jsonl", "parquet", "vdtk", *forms.FORMS)
USUAL = ""
"""Column name that stands for the usual names."""

_log = logging.getLogger(__name__)


@dataclass
class Table:
    """Captions of one file by id, in the order of the file."""

    path: Path
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Captions by id."""
    null: dict[str, None] = field(default_factory=dict)
    """Ids whose captions are null, as an ordered set."""
    numbered: bool = False
    """True when the ids are the positions of the records, from 0."""
    _counts: dict[str, int] = field(default_factory=dict)
    """Number of records with one caption by id."""
    _complete: set[str] = field(default_factory=set)
    """Ids with a list of captions in one record; further records of these ids are an error."""

    def add(self, key: str, texts: tuple[str, ...] | None, *, single: bool, location: str) -> None:
        """Add the captions of a record; raise :class:`InputError` for an id that already has a list of captions.

        Parameters
        ----------
        key
            Id of the example.
        texts
            Captions, or None for null.
        single
            True for a record with one caption; several such records of an id form its set.
        location
            Location of the record, for messages.
        """
        present = key in self.captions or key in self.null
        if present and not (single and key not in self._complete):
            raise InputError(f"the id '{key}' occurs twice", location)
        if single:
            self._counts[key] = self._counts.get(key, 0) + 1
        else:
            self._complete.add(key)
        if texts:
            self.captions[key] = self.captions.get(key, ()) + texts
            self.null.pop(key, None)
        elif key not in self.captions:
            self.null[key] = None

    def repeated_ids(self) -> list[str]:
        """Return the ids of several records with one caption, where this looks like a mistake.

        Sets of one size for every id are none, unless each of them repeats one caption.
        """
        ids = [key for key, count in self._counts.items() if count > 1]
        same = all(len(set(self.captions.get(key, ()))) < 2 for key in ids)
        return ids if same or len(set(self._counts.values())) > 1 else []


@dataclass(frozen=True)
class Choice:
    """Selection of columns and systems in the records of a file."""

    id: str | None = USUAL
    """Column of the ids; empty: a usual name; None: the records are numbered from 0."""
    candidates: str = USUAL
    """Column of the captions; empty: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to select from objects of systems."""
    allow_empty: bool = False
    """True if empty captions are accepted."""


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """Return the captions of a file; raise :class:`InputError` with the line or record that does not fit the format ``form``."""
    name, rows = _read(path, form, choice)
    table = Table(path, numbered=rows.numbered or choice.id is None)
    if name == "vdtk" and choice.id == USUAL:
        listed = list(rows.rows)
        for row, key in zip(listed, ids_of_vdtk(listed)):
            _add(table, key, row, choice.candidates or "candidates", choice)
    else:
        _fill(table, rows.rows, choice)
    if not table.captions and not table.null:
        raise InputError("the file holds no predictions", str(path))
    repeated_ids = table.repeated_ids()
    if repeated_ids:
        number = f"{len(repeated_ids)} {'id occurs' if len(repeated_ids) == 1 else 'ids occur'}"
        _log.warning(
            "note: %s: %s more than once (%s); the captions of an id form one set of candidates",
            path, number, captions.quote_list(repeated_ids),
        )  # fmt: skip
    return table


def detect(path: Path) -> str:
    """Return the format of a file, detected from its content.

    - ``parquet``: a Parquet file;
    - ``coco``: a list of objects with ``image_id`` and ``caption``, or an object with the list ``annotations``;
    - ``vdtk``: a list of objects with ``candidates`` and without ids;
    - ``mapping``: an object of ids and captions;
    - ``jsonl``: any other list of objects, and JSON Lines;
    - the names of :data:`harness.files.forms.FORMS`.

    Raises :class:`InputError` for an empty file.
    """
    return _read(path, "auto", Choice())[0]


def _read(path: Path, form: str, choice: Choice) -> tuple[str, forms.Form]:
    """Return the name of the format and the records of a file."""
    if form == "parquet" and not records.is_parquet(path):
        raise InputError("not a Parquet file", str(path))
    if form in ("coco", "jsonl", "vdtk", "parquet"):
        return form, forms.Form(form, _coco_records(path) if form == "coco" else records.records(path))
    names = [name for name in (choice.id, choice.candidates) if name]
    first, rows = forms.read_form(path, "candidates", names, None if form == "auto" else form).head()
    if rows.name not in ("json", "jsonl"):
        return rows.name, rows
    fields = first.fields if first is not None else {}
    if rows.key == "annotations" or (rows.name == "json" and "image_id" in fields and "caption" in fields):
        return "coco", rows
    if "candidates" in fields and not any(name in fields for name in FILE_ID_COLUMNS):
        return "vdtk", rows
    return "jsonl", rows


def _coco_records(path: Path) -> Iterable[records.Record]:
    value = records.load_json(path)
    if isinstance(value, dict) and "annotations" in value:
        return records.list_items(value["annotations"], f"{path}: annotations")
    return records.list_items(value, str(path))


# --------------------------------------------------------------------------- records
def _fill(table: Table, rows: Iterable[records.Record], choice: Choice) -> None:
    """Add the captions of records; records without an id column are numbered where the table says so."""
    column = candidates = None
    for number, row in enumerate(rows):
        if candidates is None:
            column = None if table.numbered else _name(row, "id", choice.id or USUAL, FILE_ID_COLUMNS)
            candidates = _name(row, "candidates", choice.candidates, CANDIDATE_COLUMNS)
        key = str(number) if column is None else captions.identity(row.fields.get(column), row.where, column)
        _add(table, key, row, candidates, choice)


def _name(row: records.Record, field_name: str, parameter: str, usual: Sequence[str]) -> str:
    """Return a column of ids or of captions, from the first record; raise :class:`InputError` when it is missing."""
    name = parameter or next((name for name in usual if name in row.fields), None)
    if name is not None and name in row.fields:
        return name
    present = captions.quote_list(row.fields, MOST_NAMES) or "none"
    if parameter:
        raise InputError(f"no column '{parameter}'{did_you_mean(parameter, row.fields)}; found {present}", row.where)
    null = "; id: null matches records and examples by position" if field_name == "id" else ""
    raise InputError(f"no column for {field_name} (name it with {field_name}: ...{null}); found {present}", row.where)


def _add(table: Table, key: str, row: records.Record, column: str, choice: Choice) -> None:
    if column not in row.fields:
        raise InputError(f"the record has no '{column}'", row.where)
    value = row.fields[column]
    if choice.systems or _is_systems(value):
        value, single = _of_systems(value, column, row.where, choice.systems), False
    else:
        single = not isinstance(value, (list, tuple))
    texts = None if value is None else captions.captions(value, row.where, allow_empty=choice.allow_empty)
    table.add(key, texts, single=single and not table.numbered, location=row.where)


def _is_systems(value: Any) -> bool:
    return isinstance(value, Mapping) and not ("caption" in value or "raw" in value)


def _of_systems(value: Any, column: str, location: str, systems: Sequence[str]) -> list[Any] | None:
    """Return the captions of the selected systems in their order; None if all of them are null."""
    if not _is_systems(value):
        raise InputError(
            f"'{column}' is {records.kind(value)}; expected an object of systems (because of system: ...)", location
        )
    if not systems:
        names = captions.quote_list(value, MOST_NAMES)
        raise InputError(f"'{column}' holds {len(value)} systems; choose with system: NAME; found {names}", location)
    texts: list[Any] = []
    for name in systems:
        if name not in value:
            available = captions.quote_list(value, MOST_NAMES)
            raise InputError(f"no system '{name}'{did_you_mean(name, value)}; found {available}", location)
        content = value[name]
        if content is not None:
            texts.extend(content if isinstance(content, (list, tuple)) else [content])
    return texts or None
