"""Texts and ids of rows that a program passes: dictionaries, rows of a data set, data
frames and labelled series.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from harness.contracts import Parameters, Role
from harness.errors import InputError
from harness.files.caption_columns import HEAD, find_caption_columns
from harness.files.captions import identity, quote_list
from harness.files.columns import (
    CANDIDATE_COLUMNS,
    FILE_ID_COLUMNS,
    REFERENCE_COLUMNS,
    find_name,
    id_columns,
    is_id,
)
from harness.files.id_choice import choose_example_column, choose_ids
from harness.files.marks import find_mark, keep_unmarked
from harness.files.records import Record
from harness.files.running_numbers import NumberedRecords
from harness.files.table_columns import MOST_NAMES
from harness.files.table_types import frame_records, plain_value

_log = logging.getLogger(__name__)

MOST_COLUMNS = 1000
"""Number of columns of a mapping of columns; a larger mapping has ids as keys."""


def rows_of(value: object) -> list[Parameters] | None:
    """Return the rows of a data frame, or of a sequence of mappings of which one has
    more than a caption; None for anything else.
    """
    records = frame_records(value)
    if records is None:
        records = _records_of_columns(value)
    if records is None:
        records = _records_of_sequence(value)
    if records is None:
        return None
    return [{name: plain_value(cell) for name, cell in row.items()} for row in records]


def _records_of_sequence(value: object) -> list[Parameters] | None:
    """Return the mappings of a sequence; None for anything else, and where each has a
    caption alone: then it is a text, not a row.
    """
    has_items = hasattr(value, "__len__") and hasattr(value, "__iter__")
    if isinstance(value, (str, bytes, Mapping)) or not has_items:
        return None
    records = list(cast("Sequence[Any]", value))
    if not records or not all(isinstance(item, Mapping) for item in records):
        return None
    return None if all(set(item) == {"caption"} for item in records) else records


def _records_of_columns(value: object) -> list[Parameters] | None:
    """Return the rows of a mapping column -> list of values, as slices of a data set
    are; None for anything else.

    A mapping of ids to captions has no key with a usual name of captions beside one of
    ids.
    """
    if (
        not isinstance(value, Mapping)
        or not 1 < len(value) <= MOST_COLUMNS
        or not all(isinstance(name, str) for name in value)
    ):
        return None
    columns = cast("Mapping[str, Any]", value)
    if not all(isinstance(cells, (list, tuple)) for cells in columns.values()):
        return None
    if len(set(map(len, columns.values()))) != 1:
        return None

    captions = find_name((*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS), columns)
    if not captions or not find_name(FILE_ID_COLUMNS, columns):
        return None
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def texts_of_rows(rows: Sequence[Parameters], role: Role) -> list[object]:
    """Return the captions of each row, from the columns of a role; raise
    :class:`InputError` where there are none.

    References that a field marks as not to be scored
    (:func:`~harness.files.marks.find_mark`) are left out, with a note; a row without
    others has None.
    """
    columns = find_caption_columns(rows[:HEAD], role)
    if columns is None:
        names = quote_list(rows[0], MOST_NAMES) or "none"
        raise InputError(
            f"no column of {role}; found {names}; pass the texts: "
            "[row['NAME'] for row in rows]",
            role,
        )

    if len(columns.names) == 1:
        texts: list[Any] = [row.get(columns.names[0]) for row in rows]
    else:
        texts = [
            [row[name] for name in columns.names if row.get(name) not in (None, "")]
            for row in rows
        ]
    return _drop_marked(rows, texts) if role == "references" else texts


def _drop_marked(rows: Sequence[Parameters], texts: Sequence[Any]) -> list[object]:
    """Return the references of each row without marked ones, None where no other is
    there.
    """
    left_out = Counter[str]()
    references: list[object] = []
    for row, value in zip(rows, texts, strict=True):
        mark = find_mark(row)
        if mark is not None:
            left_out[mark] += 1
            references.append(None)
            continue
        others = keep_unmarked(row, value, left_out)
        is_emptied = value and isinstance(others, list) and not others
        references.append(None if is_emptied else others)

    for mark, number in left_out.items():
        _log.warning("note: references: left out: %s marked %s", f"{number:,}", mark)
    return references


def match_rows(
    candidates: Sequence[Parameters], references: Sequence[Parameters]
) -> tuple[list[str], list[str]] | None:
    """Return the ids of the rows of both sides by columns that agree; None where the
    rows are paired by position.

    Columns are chosen as for files: by their names and values, which may be names of
    files. Of columns that do not agree one that both sides have is taken.

    Raises :class:`InputError` for two columns that pair the rows differently.
    """
    columns = _ids_by_column(candidates)
    others = _ids_by_column(references)
    if columns and others:
        name = choose_example_column(others, [columns]) or next(iter(others))
        examples = list(dict.fromkeys(others[name]))

        # The other columns tell which pairs agree where each example has one row.
        fields: dict[str, list[str]] = {}
        if len(examples) == len(references):
            fields = {key: ids for key, ids in others.items() if key != name}
        choice = choose_ids(columns, examples, fields, "candidates")
        if choice.fits:
            if len(examples) == len(references):
                _check_running_numbers(choice.column, candidates, references, examples)
            return list(choice.ids), others[name]

    for name in columns:
        same_name = find_name([name], others)
        if same_name is not None:
            return columns[name], others[same_name]
    return None


def _check_running_numbers(
    column: str,
    candidates: Sequence[Parameters],
    references: Sequence[Parameters],
    examples: Sequence[str],
) -> None:
    """Raise :class:`InputError` for rows with running numbers that another column of
    both sides pairs in another order.
    """
    rows = [Record(f"row {k + 1}", row) for k, row in enumerate(candidates)]
    records = NumberedRecords(rows[:HEAD], id_columns(candidates[0]), ())
    for _ in records.watch(rows):  # notes their values
        pass
    fields = {
        name: [str(row[name]) for row in references]
        for name in records.columns
        if all(name in row for row in references)
    }
    pairing = records.find_other_pairing(column, examples, fields)
    if pairing is not None:
        raise InputError(
            f"{pairing.describe()}; pass mappings from the right one to the texts, "
            f"such as {{row[{pairing.other!r}]: row['caption'] for row in rows}}",
            "candidates",
        )


def _ids_by_column(rows: Sequence[Parameters]) -> dict[str, list[str]]:
    """Return the columns that have an id in every row -> id of each row, in order of
    preference.
    """
    names = [
        name
        for name in id_columns(rows[0], FILE_ID_COLUMNS)
        if all(is_id(row.get(name)) for row in rows)
    ]
    return {
        name: [identity(row[name], f"row {k + 1}", name) for k, row in enumerate(rows)]
        for name in names
    }


def group_by_id(ids: Sequence[str], texts: Sequence[object]) -> dict[str, object]:
    """Return the texts of each id: the value of its only row, or those of its rows
    together; rows with None have none.
    """
    out: dict[str, list[object]] = {}
    for key, value in zip(ids, texts, strict=True):
        if value is not None:  # a reference that is left out
            out.setdefault(key, []).append(value)
    return {
        key: values[0] if len(values) == 1 else _flatten(values)
        for key, values in out.items()
    }


def _flatten(values: Sequence[object]) -> list[object]:
    """Return the texts of several rows as one list."""
    texts: list[object] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            texts.extend(cast("Sequence[object]", value))
        else:
            texts.append(value)
    return texts
