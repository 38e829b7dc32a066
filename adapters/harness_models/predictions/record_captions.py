"""Captions of one record of a file of predictions, and the columns that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InputError, did_you_mean
from harness.files import captions
from harness.files.caption_columns import find_caption_columns
from harness.files.columns import find_name
from harness.files.fields import get_field, has_field
from harness.files.generated.record_signs import LOOKED_AT, RecordSigns
from harness.files.records import Record, kind
from harness.files.table_columns import MOST_NAMES
from harness_models.predictions.table import Choice, RecordCaptions


def caption_columns(
    head: Sequence[Record], parameter: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of the captions and those that could hold some too; raise
    :class:`InputError` for an absent one.
    """
    fields = [row.fields for row in head]
    if parameter:
        return (given_column(head[0], parameter),), ()
    columns = find_caption_columns(fields, "candidates")
    if columns is None:
        present = captions.quote_list(head[0].fields, MOST_NAMES) or "none"
        raise InputError(
            f"no column for candidates (name it with candidates: ...); found {present}",
            head[0].where,
        )
    return columns.names, columns.others


def given_column(row: Record, parameter: str) -> str:
    """Return the column or dotted path that a parameter names; raise
    :class:`InputError` when it is missing.
    """
    if parameter in row.fields:
        return parameter
    name = find_name([parameter], row.fields)
    if not name and has_field(row.fields, parameter):
        name = parameter

    if name is None:
        present = captions.quote_list(row.fields, MOST_NAMES) or "none"
        raise InputError(
            f"no column '{parameter}'{did_you_mean(parameter, row.fields)}; "
            f"found {present}",
            row.where,
        )
    return name


def captions_of_record(
    row: Record, columns: Sequence[str], choice: Choice, signs: RecordSigns
) -> RecordCaptions:
    """Return the captions of a record."""
    if len(columns) > 1:
        values = [
            value
            for name in columns
            if (value := get_field(row.fields, name)) not in (None, "")
        ]
        every_text: list[str] = []
        for value in values:
            every_text += captions.captions(
                value, row.where, allow_empty=choice.allow_empty
            )
        seen = _look(row, tuple(every_text), choice, signs)
        return RecordCaptions(seen or None, False, row.where)

    column = columns[0]
    value = get_field(row.fields, column)
    if value is None and column not in row.fields and "." not in column:
        raise InputError(f"the record has no '{column}'", row.where)

    single = not isinstance(value, (list, tuple))
    if choice.systems or (not isinstance(value, str) and _is_object(value)):
        value = _of_systems(value, column, row.where, choice.systems)
        single = False

    texts = None
    if value is not None:
        texts = captions.captions(value, row.where, allow_empty=choice.allow_empty)
    return RecordCaptions(texts and _look(row, texts, choice, signs), single, row.where)


def _look(
    row: Record, texts: tuple[str, ...], choice: Choice, signs: RecordSigns
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
            f"'{column}' is {kind(value)}; expected an object of systems "
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
