"""Captions by id of one file of predictions, in any form."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from harness.contracts import Events, Reading
from harness.contracts.reading import KEYS, SHOWN_ITEMS
from harness.errors import InputError, did_you_mean
from harness.files import captions, forms, records
from harness.files.columns import (
    FILE_ID_COLUMNS,
    MOST_NAMES,
    find_caption_columns,
    find_name,
    get_field,
    has_field,
    id_columns,
    is_id,
    scalar_columns,
)
from harness.files.events import has_times, resolve_events
from harness.files.generated.cleaning import REPEATS
from harness.files.generated.record_signs import LOOKED_AT, RecordSigns
from harness.files.id_choice import IdChoice, choose_ids
from harness.files.neighbours import RESPONSES
from harness.registry.file_forms import is_specific, read_form
from harness_tasks.readers.annotations import ids_of_vdtk

FORMATS = tuple(dict.fromkeys(("auto", "coco", "jsonl", "parquet", "vdtk", *forms.FORMS)))
USUAL = ""
"""Column name that stands for the usual names."""
HEAD = 20
"""Number of records whose values decide which columns hold captions."""

FORMS_WITHOUT_COLUMNS = frozenset(("mapping", "list", "txt", "pairs", "flickr"))
"""Forms whose captions are not in a named column."""

_log = logging.getLogger(__name__)


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
    events: Events | None = None
    """Treatment of texts with times."""
    clean: tuple[str, ...] = ()
    """What to remove of captions."""


@dataclass(frozen=True)
class _Captions:
    """Captions of one record."""

    texts: tuple[str, ...] | None
    """The captions; None for null."""
    single: bool
    """True for a record with one caption; several such records of an id form its set."""
    location: str


@dataclass
class Table:
    """Captions of one file by id, in the order of the file."""

    path: Path
    form: str = ""
    id: str | None = None
    """Column of the ids; None where they are positions or keys of an object."""
    columns: tuple[str, ...] = ()
    """Columns of the captions."""
    other_columns: tuple[str, ...] = ()
    """Columns with other usual names that could hold captions."""
    captions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Captions by id."""
    null: dict[str, None] = field(default_factory=dict)
    """Ids whose captions are null, as an ordered set."""
    signs: RecordSigns = field(default_factory=RecordSigns)
    """What the records say about their captions, and what is removed of these."""
    numbered: bool = False
    """True when the ids are the positions of the records, from 0."""
    possible_ids: dict[str, list[str]] = field(default_factory=dict)
    """Columns that can hold the ids, where there are several -> id of each record."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What is not read -> its number."""
    other_ids: tuple[str, ...] = ()
    """Columns that give other ids, and were not taken."""
    remarks: list[str] = field(default_factory=list)
    """How ids were matched where they are not equal."""
    no_ids: InputError | None = None
    """Error for a file without a usual column of ids; None where there is one, or where none is needed."""
    _records: list[_Captions] = field(default_factory=list)
    """The records, until the column of their ids is chosen."""
    _counts: dict[str, int] = field(default_factory=dict)
    """Number of records with one caption by id."""

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
        if present and not (single and key in self._counts):
            raise InputError(f"the id '{key}' occurs twice", location)
        if single:
            self._counts[key] = self._counts.get(key, 0) + 1
        if texts:
            self.captions[key] = self.captions.get(key, ()) + texts
            self.null.pop(key, None)
        elif key not in self.captions:
            self.null[key] = None

    def hold(self, captions: _Captions) -> None:
        """Keep a record whose id is not chosen yet."""
        self._records.append(captions)

    def choose(self, examples: Sequence[str], fields: Mapping[str, Sequence[str]]) -> None:
        """Give the records their ids by the column that agrees with the examples; arguments as for :func:`choose_ids`."""
        choice = choose_ids(self.possible_ids, examples, fields, str(self.path), by_name=self.no_ids is None)
        if self.no_ids is not None:
            if not choice.fits:
                raise self.no_ids
            choice = replace(choice, rejected=())
            self.remarks.append(f"'{choice.column}' has the ids of the examples")
        self._take(choice)
        if choice.renamed is not None:
            self.remarks.append(f"its ids are matched by file name: '{choice.renamed[0]}' is '{choice.renamed[1]}'")

    def take_usual(self) -> None:
        """Give the records the ids of the first column that can hold them."""
        if self.no_ids is not None:
            raise self.no_ids
        column, ids = next(iter(self.possible_ids.items()))
        self._take(IdChoice(column, ids, 0, 0, 0, rejected=tuple(self.possible_ids)[1:]))

    def _take(self, choice: IdChoice) -> None:
        self.id, self.other_ids = choice.column, choice.rejected
        for key, record in zip(choice.ids, self._records, strict=True):
            self.add(key, record.texts, single=record.single, location=record.location)
        self._records.clear()
        self.end_records()

    @property
    def undecided(self) -> bool:
        """True while the column of the ids is not chosen."""
        return bool(self._records)

    def rename(self, names: Mapping[str, str]) -> None:
        """Give the captions other ids."""
        self.captions = {names[key]: texts for key, texts in self.captions.items()}
        self.null = {names[key]: None for key in self.null}

    def reading(self) -> Reading:
        """Return how the file was read."""
        ids = self.id if self.columns else None if self.numbered else KEYS
        first = {key: texts[:SHOWN_ITEMS] for key, texts in islice(self.captions.items(), SHOWN_ITEMS)}
        texts = sum(map(len, self.captions.values()))
        return Reading(
            str(self.path), "candidates", self.form, ids, self.columns, len(self.captions) + len(self.null), texts,
            dict(self.left_out), tuple(self.possible_ids), self.other_ids, self.other_columns, tuple(self.remarks), first,
        )  # fmt: skip

    def end_records(self) -> None:
        """Leave out repeats where this is asked for, and note repeated ids: all records have their ids."""
        self.signs.captions = sum(map(len, self.captions.values()))
        if REPEATS in self.signs.names:
            self.captions = {key: self.signs.drop_repeats(texts) for key, texts in self.captions.items()}
        self.note_repeated_ids()

    def note_repeated_ids(self) -> None:
        """Note the ids of several records with one caption, where this looks like a mistake."""
        repeated = self.repeated_ids()
        if repeated:
            number = f"{len(repeated)} {'id occurs' if len(repeated) == 1 else 'ids occur'}"
            _log.warning(
                "note: %s: %s more than once (%s); the captions of an id form one set of candidates",
                self.path, number, captions.quote_list(repeated),
            )  # fmt: skip

    def repeated_ids(self) -> list[str]:
        """Return the ids of several records with one caption, where this looks like a mistake.

        Sets of one size for every id are none. Those that all repeat one caption have a remark of their own
        (:func:`~harness.files.generated.remarks.output_remarks`).
        """
        ids = [key for key, count in self._counts.items() if count > 1]
        same = all(len(set(self.captions.get(key, ()))) < 2 for key in ids)
        return ids if not same and len(set(self._counts.values())) > 1 else []


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """Return the captions of a file; raise :class:`InputError` with the line or record that does not fit the format ``form``."""
    name, rows = read_rows(path, form, choice)
    if name == "lm-eval" and not choice.candidates:
        rows = replace(rows, rows=_note_other_responses(path, rows.rows))
    table = Table(path, name, numbered=rows.numbered or choice.id is None, signs=RecordSigns(choice.clean))
    if name == "vdtk" and choice.id == USUAL:
        listed = list(rows.rows)
        table.columns = (choice.candidates or "candidates",)
        for row, key in zip(listed, ids_of_vdtk(listed)):
            record = _captions_of(row, table.columns, choice, table.signs)
            table.add(key, record.texts, single=record.single, location=record.location)
    else:
        _fill(table, rows, choice)
    if not table.captions and not table.null and not table.undecided:
        raise InputError("the file holds no predictions", str(path))
    table.left_out.update(rows.left_out)
    if not table.undecided:
        table.end_records()
    return table


def find_matching_column(path: Path, form: str, choice: Choice, ids: Set[str]) -> tuple[str, int] | None:
    """Return the column of any name that has most of some ids, and their number; None where none has any.

    The file is read again: this is for the message of an error.
    """
    _, rows = read_rows(path, form, choice)
    counts: Counter[str] = Counter()
    for row in rows.rows:
        counts.update(name for name in scalar_columns(row.fields, ()) if str(row.fields[name]) in ids)
    return counts.most_common(1)[0] if counts else None


def _note_other_responses(path: Path, rows: Iterable[records.Record]) -> Iterator[records.Record]:
    """Yield the documents of lm-eval; note at the end how many responses they have where not all are scored."""
    scored: list[int] = []
    responses: list[int] = []
    for row in rows:
        if RESPONSES in row.fields:
            texts = row.fields["candidates"]
            scored.append(len(next(iter(texts.values())) if isinstance(texts, Mapping) else texts))
            responses.append(len(row.fields[RESPONSES]))
        yield row
    if responses:
        _log.warning(
            "note: %s: %s responses per document in resps; filtered_resps has %s, and these are scored (all of them: --column resps, "
            "or candidates: resps in a spec)",
            path, _range_text(responses), _range_text(scored),
        )  # fmt: skip


def _range_text(counts: Sequence[int]) -> str:
    """Return the smallest and the largest of some numbers, or the only one."""
    return f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"


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
    return read_rows(path, "auto", Choice())[0]


def read_rows(path: Path, form: str, choice: Choice) -> tuple[str, forms.Form]:
    """Return the name of the format and the records of a file."""
    if form == "parquet" and not records.is_parquet(path):
        raise InputError("not a Parquet file", str(path))
    if form in ("coco", "jsonl", "vdtk", "parquet"):
        return form, forms.Form(form, _coco_records(path) if form == "coco" else records.records(path))
    names = [name for name in (choice.id, choice.candidates) if name]
    first, rows = read_form(path, "candidates", names, None if form == "auto" else form).head()
    if rows.name not in ("json", "jsonl"):
        return rows.name, rows
    fields = first.fields if first is not None else {}
    if rows.key == "annotations" or (rows.name == "json" and "image_id" in fields and "caption" in fields):
        return "coco", rows
    if "candidates" in fields and find_name(FILE_ID_COLUMNS, fields) is None:
        return "vdtk", rows
    return "jsonl", rows


def _coco_records(path: Path) -> Iterable[records.Record]:
    value = records.load_json(path)
    if isinstance(value, dict) and "annotations" in value:
        return records.list_items(value["annotations"], f"{path}: annotations")
    return records.list_items(value, str(path))


# --------------------------------------------------------------------------- records
def _fill(table: Table, form: forms.Form, choice: Choice) -> None:
    """Add the captions of records; records without an id column are numbered where the table says so."""
    rows = iter(form.rows)
    head = list(islice(rows, HEAD))
    if not head:
        return
    columns, others = _caption_columns(head, choice.candidates)
    table.other_columns = () if is_specific(form.name) else others
    ids = _IdColumns.find(head[0], choice, form.ids, columns) if not table.numbered else _IdColumns(())
    table.columns = () if form.name in FORMS_WITHOUT_COLUMNS else columns
    table.no_ids = ids.absent
    every_row = chain(head, rows)
    if any(has_times(row.fields) for row in head):
        every_row = resolve_events(every_row, ids.names[0] if ids.names else None, columns[0], choice.events)
    if len(ids.names) > 1 or ids.absent is not None:
        table.possible_ids = _hold_records(table, every_row, ids.names, columns, choice)
        return
    table.id = ids.names[0] if ids.names else None
    for number, row in enumerate(every_row):
        record = _captions_of(row, columns, choice, table.signs)
        key = str(number) if table.id is None else captions.identity(get_field(row.fields, table.id), row.where, table.id)
        table.add(key, record.texts, single=record.single and not table.numbered, location=row.where)


def _hold_records(
    table: Table, rows: Iterable[records.Record], names: Sequence[str], columns: Sequence[str], choice: Choice
) -> dict[str, list[str]]:
    """Keep records whose ids are chosen later; return the ids of each column that has one in every record."""
    ids: dict[str, list[str]] = {name: [] for name in names}
    for row in rows:
        for name, keys in list(ids.items()):
            value = get_field(row.fields, name)
            if is_id(value):
                keys.append(captions.identity(value, row.where, name))
            elif len(ids) > 1:
                del ids[name]
            else:
                captions.identity(value, row.where, name)  # raises: no other column has an id here
        table.hold(_captions_of(row, columns, choice, table.signs))
    return ids


def _caption_columns(head: Sequence[records.Record], parameter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of the captions and those that could hold some too; raise :class:`InputError` for an absent one."""
    fields = [row.fields for row in head]
    if parameter:
        return (_given_column(head[0], parameter),), ()
    found = find_caption_columns(fields, "candidates")
    if found is None:
        present = captions.quote_list(head[0].fields, MOST_NAMES) or "none"
        raise InputError(f"no column for candidates (name it with candidates: ...); found {present}", head[0].where)
    return found.names, found.others


@dataclass(frozen=True)
class _IdColumns:
    """Columns that can hold the ids of the records, in order of preference."""

    names: tuple[str, ...]
    absent: InputError | None = None
    """Error for columns none of which has a usual name of ids."""

    @classmethod
    def find(cls, row: records.Record, choice: Choice, usual: Sequence[str], columns: Sequence[str]) -> _IdColumns:
        """Return the columns of a record; raise :class:`InputError` where none can hold an id."""
        if choice.id:
            return cls((_given_column(row, choice.id),))
        found = [name for name in id_columns(row.fields, [*usual, *FILE_ID_COLUMNS]) if name not in columns]
        if found:
            return cls(tuple(found))
        present = captions.quote_list(row.fields, MOST_NAMES) or "none"
        advice = "name it with id: ...; id: null matches records and examples by position"
        absent = InputError(f"no column for id ({advice}); found {present}", row.where)
        others = scalar_columns(row.fields, columns)
        if not others:
            raise absent
        return cls(tuple(others), absent)


def _given_column(row: records.Record, parameter: str) -> str:
    """Return the column or dotted path that a parameter names; raise :class:`InputError` when it is missing."""
    if parameter in row.fields:
        return parameter
    name = find_name([parameter], row.fields) or (parameter if has_field(row.fields, parameter) else None)
    if name is None:
        present = captions.quote_list(row.fields, MOST_NAMES) or "none"
        raise InputError(f"no column '{parameter}'{did_you_mean(parameter, row.fields)}; found {present}", row.where)
    return name


def _captions_of(row: records.Record, columns: Sequence[str], choice: Choice, signs: RecordSigns) -> _Captions:
    """Return the captions of a record."""
    first, *others = columns
    if others:
        values = [value for name in columns if (value := get_field(row.fields, name)) not in (None, "")]
        texts = tuple(text for value in values for text in captions.captions(value, row.where, allow_empty=choice.allow_empty))
        return _Captions(_look(row, texts, choice, signs) or None, False, row.where)
    if not has_field(row.fields, first) and "." not in first:
        raise InputError(f"the record has no '{first}'", row.where)
    value = get_field(row.fields, first)
    single = not isinstance(value, (list, tuple))
    if choice.systems or _is_object(value):
        value, single = _of_systems(value, first, row.where, choice.systems), False
    texts = None if value is None else captions.captions(value, row.where, allow_empty=choice.allow_empty)
    return _Captions(texts and _look(row, texts, choice, signs), single, row.where)


def _look(row: records.Record, texts: tuple[str, ...], choice: Choice, signs: RecordSigns) -> tuple[str, ...]:
    """Return the captions of a record, cleaned where this is asked for."""
    if not choice.clean and LOOKED_AT.isdisjoint(row.fields):  # most records: this is done for each of a million
        return texts
    return signs.look(row.fields, texts, row.where, allow_empty=choice.allow_empty)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and captions.text_field(value) is None and "caption" not in value and "raw" not in value


def _of_systems(value: Any, column: str, location: str, systems: Sequence[str]) -> list[Any] | None:
    """Return the captions of the selected systems in their order; None if all of them are null."""
    if not _is_object(value):
        raise InputError(f"'{column}' is {records.kind(value)}; expected an object of systems (because of system: ...)", location)
    if not all(item is None or isinstance(item, (str, list, tuple)) or not _is_object(item) for item in value.values()):
        names = captions.quote_list(value, MOST_NAMES)
        raise InputError(f"'{column}' is an object with {names}; name the field of the captions with candidates: {column}.NAME", location)
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
