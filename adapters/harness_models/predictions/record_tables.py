"""Tables of captions from the records of a file, in any form."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from harness.errors import InputError, did_you_mean
from harness.files import captions, forms, records
from harness.files.columns import (
    FILE_ID_COLUMNS,
    HEAD,
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
from harness.files.generated.record_signs import LOOKED_AT, RecordSigns
from harness.files.neighbours import RESPONSES
from harness.registry.file_forms import is_specific, read_form
from harness_models.predictions.table import USUAL, Choice, RecordCaptions, Table
from harness_tasks.readers.vdtk import ids_of_vdtk

FORMATS = tuple(
    dict.fromkeys(("auto", "coco", "jsonl", "parquet", "vdtk", *forms.FORMS))
)
_log = logging.getLogger(__name__)


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """Return the captions of a file; raise :class:`InputError` with the line or record
    that does not fit the format ``form``.
    """
    name, rows = read_rows(path, form, choice)
    if name == "lm-eval" and not choice.candidates:
        rows = replace(rows, rows=_note_other_responses(path, rows.rows))

    table = Table(
        path,
        name,
        numbered=rows.numbered or choice.id is None,
        signs=RecordSigns(choice.clean),
    )
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


def find_matching_column(
    path: Path, form: str, choice: Choice, ids: Set[str]
) -> tuple[str, int] | None:
    """Return the column of any name that has most of some ids, and their number;
    None where none has any.

    The file is read again: this is for the message of an error.
    """
    _, rows = read_rows(path, form, choice)
    counts: Counter[str] = Counter()
    for row in rows.rows:
        counts.update(
            name
            for name in scalar_columns(row.fields, ())
            if str(row.fields[name]) in ids
        )
    return counts.most_common(1)[0] if counts else None


def _note_other_responses(
    path: Path, rows: Iterable[records.Record]
) -> Iterator[records.Record]:
    """Yield the documents of lm-eval; note at the end how many responses they have
    where not all are scored.
    """
    scored: list[int] = []
    responses: list[int] = []
    for row in rows:
        if RESPONSES in row.fields:
            texts = row.fields["candidates"]
            scored.append(
                len(next(iter(texts.values())) if isinstance(texts, Mapping) else texts)
            )
            responses.append(len(row.fields[RESPONSES]))
        yield row

    if responses:
        _log.warning(
            "note: %s: %s responses per document in resps; filtered_resps has %s, "
            "and these are scored (all of them: --column resps, "
            "or candidates: resps in a spec)",
            path,
            _range_text(responses),
            _range_text(scored),
        )


def _range_text(counts: Sequence[int]) -> str:
    """Return the smallest and the largest of some numbers, or the only one."""
    return (
        f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
    )


def detect(path: Path) -> str:
    """Return the format of a file, detected from its content.

    - ``parquet``: a Parquet file;
    - ``coco``: a list of objects with ``image_id`` and ``caption``, or an object with
      the list ``annotations``;
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
        return form, forms.Form(
            form, _coco_records(path) if form == "coco" else records.records(path)
        )

    # Other forms are detected by their first records.
    names = [name for name in (choice.id, choice.candidates) if name]
    first, rows = read_form(
        path, "candidates", names, None if form == "auto" else form
    ).head()
    if rows.name not in ("json", "jsonl"):
        return rows.name, rows

    fields = first.fields if first is not None else {}
    if rows.key == "annotations" or (
        rows.name == "json" and "image_id" in fields and "caption" in fields
    ):
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
    """Add the captions of records; records without an id column are numbered where the
    table says so.
    """
    rows = iter(form.rows)
    head = list(islice(rows, HEAD))
    if not head:
        return
    columns, others = _caption_columns(head, choice.candidates)
    table.other_columns = () if is_specific(form.name) else others
    ids = (
        _IdColumns.find(head[0], choice, form.ids, columns)
        if not table.numbered
        else _IdColumns(())
    )
    table.columns = () if form.name in forms.FORMS_WITHOUT_COLUMNS else columns
    table.no_ids = ids.absent
    every_row = chain(head, rows)
    if any(has_times(row.fields) for row in head):
        every_row = resolve_events(
            every_row, ids.names[0] if ids.names else None, columns[0], choice.events
        )
    if len(ids.names) > 1 or ids.absent is not None:
        table.possible_ids = _hold_records(table, every_row, ids.names, columns, choice)
        return
    table.id = ids.names[0] if ids.names else None
    for number, row in enumerate(every_row):
        record = _captions_of(row, columns, choice, table.signs)
        key = (
            str(number)
            if table.id is None
            else captions.identity(get_field(row.fields, table.id), row.where, table.id)
        )
        table.add(
            key,
            record.texts,
            single=record.single and not table.numbered,
            location=row.where,
        )


def _hold_records(
    table: Table,
    rows: Iterable[records.Record],
    names: Sequence[str],
    columns: Sequence[str],
    choice: Choice,
) -> dict[str, list[str]]:
    """Keep records whose ids are chosen later;
    return the ids of each column that has one in every record.
    """
    ids: dict[str, list[str]] = {name: [] for name in names}
    for row in rows:
        for name, keys in list(ids.items()):
            value = get_field(row.fields, name)
            if is_id(value):
                keys.append(captions.identity(value, row.where, name))
            elif len(ids) > 1:
                del ids[name]
            else:
                # raises: no other column has an id here
                captions.identity(value, row.where, name)
        table.hold(_captions_of(row, columns, choice, table.signs))
    return ids


def _caption_columns(
    head: Sequence[records.Record], parameter: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of the captions and those that could hold some too; raise
    :class:`InputError` for an absent one.
    """
    fields = [row.fields for row in head]
    if parameter:
        return (_given_column(head[0], parameter),), ()
    found = find_caption_columns(fields, "candidates")
    if found is None:
        present = captions.quote_list(head[0].fields, MOST_NAMES) or "none"
        raise InputError(
            f"no column for candidates (name it with candidates: ...); found {present}",
            head[0].where,
        )
    return found.names, found.others


@dataclass(frozen=True)
class _IdColumns:
    """Columns that can hold the ids of the records, in order of preference."""

    names: tuple[str, ...]
    absent: InputError | None = None
    """Error for columns none of which has a usual name of ids."""

    @classmethod
    def find(
        cls,
        row: records.Record,
        choice: Choice,
        usual: Sequence[str],
        columns: Sequence[str],
    ) -> _IdColumns:
        """Return the columns of a record; raise :class:`InputError` where none can hold
        an id.
        """
        if choice.id:
            return cls((_given_column(row, choice.id),))
        found = [
            name
            for name in id_columns(row.fields, [*usual, *FILE_ID_COLUMNS])
            if name not in columns
        ]
        if found:
            return cls(tuple(found))
        present = captions.quote_list(row.fields, MOST_NAMES) or "none"
        advice = (
            "name it with id: ...; id: null matches records and examples by position"
        )
        absent = InputError(f"no column for id ({advice}); found {present}", row.where)
        others = scalar_columns(row.fields, columns)
        if not others:
            raise absent
        return cls(tuple(others), absent)


def _given_column(row: records.Record, parameter: str) -> str:
    """Return the column or dotted path that a parameter names; raise
    :class:`InputError` when it is missing.
    """
    if parameter in row.fields:
        return parameter
    name = find_name([parameter], row.fields) or (
        parameter if has_field(row.fields, parameter) else None
    )
    if name is None:
        present = captions.quote_list(row.fields, MOST_NAMES) or "none"
        raise InputError(
            f"no column '{parameter}'{did_you_mean(parameter, row.fields)}; "
            f"found {present}",
            row.where,
        )
    return name


def _captions_of(
    row: records.Record, columns: Sequence[str], choice: Choice, signs: RecordSigns
) -> RecordCaptions:
    """Return the captions of a record."""
    if len(columns) > 1:
        values = [
            value
            for name in columns
            if (value := get_field(row.fields, name)) not in (None, "")
        ]
        texts = tuple(
            text
            for value in values
            for text in captions.captions(
                value, row.where, allow_empty=choice.allow_empty
            )
        )
        return RecordCaptions(
            _look(row, texts, choice, signs) or None, False, row.where
        )
    column = columns[0]
    value = get_field(row.fields, column)
    if value is None and column not in row.fields and "." not in column:
        raise InputError(f"the record has no '{column}'", row.where)
    single = not isinstance(value, (list, tuple))
    if choice.systems or (not isinstance(value, str) and _is_object(value)):
        value = _of_systems(value, column, row.where, choice.systems)
        single = False
    texts = (
        None
        if value is None
        else captions.captions(value, row.where, allow_empty=choice.allow_empty)
    )
    return RecordCaptions(texts and _look(row, texts, choice, signs), single, row.where)


def _look(
    row: records.Record, texts: tuple[str, ...], choice: Choice, signs: RecordSigns
) -> tuple[str, ...]:
    """Return the captions of a record, cleaned where this is asked for."""
    # most records: this is done for each of a million
    if not choice.clean and LOOKED_AT.isdisjoint(row.fields):
        return texts
    return signs.look(row.fields, texts, row.where, allow_empty=choice.allow_empty)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and captions.text_field(value) is None


def _of_systems(
    value: Any, column: str, location: str, systems: Sequence[str]
) -> list[Any] | None:
    """Return the captions of the selected systems in their order;
    None if all of them are null.
    """
    if not _is_object(value):
        raise InputError(
            f"'{column}' is {records.kind(value)}; expected an object of systems "
            "(because of system: ...)",
            location,
        )
    if not all(
        item is None or isinstance(item, (str, list, tuple)) or not _is_object(item)
        for item in value.values()
    ):
        names = captions.quote_list(value, MOST_NAMES)
        raise InputError(
            f"'{column}' is an object with {names}; name the field of the captions "
            f"with candidates: {column}.NAME",
            location,
        )
    if not systems:
        names = captions.quote_list(value, MOST_NAMES)
        raise InputError(
            f"'{column}' holds {len(value)} systems; choose with system: NAME; "
            f"found {names}",
            location,
        )
    texts: list[Any] = []
    for name in systems:
        if name not in value:
            available = captions.quote_list(value, MOST_NAMES)
            raise InputError(
                f"no system '{name}'{did_you_mean(name, value)}; found {available}",
                location,
            )
        content = value[name]
        if content is not None:
            texts.extend(content if isinstance(content, (list, tuple)) else [content])
    return texts or None
