"""Tables of captions from the records of a file, in any form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from harness.errors import InputError
from harness.files import captions, forms
from harness.files.caption_columns import HEAD
from harness.files.columns import FILE_ID_COLUMNS, id_columns, is_id, scalar_columns
from harness.files.events import has_times, resolve_events
from harness.files.fields import get_field
from harness.files.generated.record_signs import RecordSigns
from harness.files.records import Record
from harness.files.row_groups import RowGroups
from harness.files.running_numbers import NumberedRecords
from harness.files.table_columns import MOST_NAMES
from harness.registry.file_forms import is_specific
from harness_models.predictions.formats import note_other_responses, read_rows
from harness_models.predictions.record_captions import (
    caption_columns,
    captions_of_record,
    given_column,
)
from harness_models.predictions.table import USUAL, Choice, Table
from harness_tasks.readers.vdtk import ids_of_vdtk


def read_table(path: Path, form: str, choice: Choice) -> Table:
    """Return the captions of a file; raise :class:`InputError` with the line or record
    that does not fit the format ``form``.
    """
    name, rows = read_rows(path, form, choice)
    if name == "lm-eval" and not choice.candidates:
        rows = replace(rows, rows=note_other_responses(path, rows.rows))

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
            record = captions_of_record(row, table.columns, choice, table.signs)
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


def _fill(table: Table, form: forms.Form, choice: Choice) -> None:
    """Add the captions of records; records without an id column are numbered where the
    table says so.
    """
    rows = iter(form.rows)
    head = list(islice(rows, HEAD))
    if not head:
        return

    columns, others = caption_columns(head, choice.candidates)
    table.other_columns = () if is_specific(form.name) else others
    ids = _IdColumns(())
    if not table.numbered:
        ids = _IdColumns.find(head[0], choice, form.ids, columns)
    table.columns = () if form.name in forms.FORMS_WITHOUT_COLUMNS else columns
    table.no_ids = ids.absent

    first_id = ids.names[0] if ids.names else None
    table.groups = RowGroups(head, (*ids.names, *columns))
    every_row = table.groups.watch(chain(head, rows))
    if choice.id == USUAL:
        table.numbered_records = NumberedRecords(head, ids.names, columns)
        every_row = table.numbered_records.watch(every_row)
    if choice.events == "sets" or any(has_times(row.fields) for row in head):
        every_row = resolve_events(
            every_row,
            first_id,
            columns[0],
            choice.events,
            form=form.name,
            keeps_answers=True,
        )

    # Of several columns the one is taken that agrees with the examples, which are not
    # known yet.
    if len(ids.names) > 1 or ids.absent is not None:
        table.possible_ids = _hold_records(table, every_row, ids.names, columns, choice)
        return

    table.id = first_id
    for number, row in enumerate(every_row):
        record = captions_of_record(row, columns, choice, table.signs)
        key = str(number)
        if table.id is not None:
            value = get_field(row.fields, table.id)
            key = captions.identity(value, row.where, table.id)
        table.add(
            key,
            record.texts,
            single=record.single and not table.numbered,
            location=row.where,
        )


def _hold_records(
    table: Table,
    rows: Iterable[Record],
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
        table.hold(captions_of_record(row, columns, choice, table.signs))
    return ids


@dataclass(frozen=True)
class _IdColumns:
    """Columns that can hold the ids of the records, in order of preference."""

    names: tuple[str, ...]
    absent: InputError | None = None
    """Error for columns none of which has a usual name of ids."""

    @classmethod
    def find(
        cls,
        row: Record,
        choice: Choice,
        usual: Sequence[str],
        columns: Sequence[str],
    ) -> _IdColumns:
        """Return the columns of a record; raise :class:`InputError` where none can hold
        an id.
        """
        if choice.id:
            return cls((given_column(row, choice.id),))
        usual_columns = [
            name
            for name in id_columns(row.fields, [*usual, *FILE_ID_COLUMNS])
            if name not in columns
        ]
        if usual_columns:
            return cls(tuple(usual_columns))

        # Without a usual name any column of one value per record may hold the ids.
        present = captions.quote_list(row.fields, MOST_NAMES) or "none"
        advice = (
            "name it with id: ...; id: null matches records and examples by position"
        )
        absent = InputError(f"no column for id ({advice}); found {present}", row.where)
        others = scalar_columns(row.fields, columns)
        if not others:
            raise absent
        return cls(tuple(others), absent)
