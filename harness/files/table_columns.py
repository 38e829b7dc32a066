"""Columns of a table of examples, from the parameter ``columns`` of the user and the usual
names.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.contracts import Parameters, Values
from harness.errors import InputError, did_you_mean
from harness.files.caption_columns import find_caption_columns
from harness.files.captions import quote_list
from harness.files.columns import (
    ID_COLUMNS,
    MEDIA_COLUMNS,
    SOURCE_COLUMNS,
    find_name,
    id_columns,
)
from harness.files.fields import has_field
from harness.files.records import kind
from harness.files.yaml_source import YamlValue

MOST_NAMES = 5
"""Number of names that a message lists."""


@dataclass(frozen=True)
class Columns:
    """Column names of a table of examples."""

    id: str | None
    """Column of the ids; None numbers the rows from 0."""
    captions: tuple[str, ...]
    """Columns of the references: one column of lists or of single captions, or several
    columns of single captions.
    """
    media: str | None = None
    """Column of the media names."""
    source: str | None = None
    """Column of the source texts; a list is joined by line breaks."""
    split: str | None = None
    """Column of the split names."""
    other_captions: tuple[str, ...] = ()
    """Columns that could hold references too, by their names."""

    def column_list(self) -> list[str]:
        """Return the distinct columns in use, in the order of the fields."""
        names = [self.id, *self.captions, self.media, self.source, self.split]
        return list(dict.fromkeys(name for name in names if name))


COLUMN_NAMES = ("id", "references", "media", "source", "split")


def check_mapping(
    columns: Parameters | None, names: Sequence[str] = COLUMN_NAMES
) -> Values:
    """Return the ``columns`` parameter of a component as a dict; raise
    :class:`InputError` for a key that is not in ``names``.
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(
            f"columns is {kind(columns)}; expected a mapping such as {{id: image_id, "
            f"references: captions}}",
            parameter="columns",
            value=columns,
        )
    for name in columns:
        if name not in names:
            raise InputError.of_name(
                "columns has no", name, names, "expected some of", parameter="columns"
            )
    return dict(columns)


def find_columns(
    columns: Parameters,
    records: Sequence[Parameters],
    location: str,
    *,
    split: bool = False,
    ids: Sequence[str] = ID_COLUMNS,
) -> Columns:
    """Return the columns of a table: those named by the parameter ``columns``, and the
    usual names for the others.

    Parameters
    ----------
    columns : mapping
        Key of :data:`COLUMN_NAMES` -> column name or dotted path, or a list of
        alternatives; for ``references`` also a pattern (``caption_*``) or a list of
        columns and patterns; None for a column that is not used.
    records : sequence of mapping
        The first records of the table.
    location : str
        Place of the table for messages.
    split : bool, default False
        Look for the column ``split`` too.
    ids : sequence of str
        Usual names of the column of ids.

    Raises
    ------
    InputError
        For a column that the table lacks, and when the table has no column of ids or of
        captions.

    Examples
    --------
    >>> find_columns(
    ...     {"id": "key"},
    ...     [{"key": 1, "caption_0": "a dog", "caption_1": "the dog"}],
    ...     "here",
    ... ).captions
    ('caption_0', 'caption_1')
    """
    present = list(dict.fromkeys(name for record in records for name in record))
    references = columns.get("references")
    others = ()
    if references is None:
        found = find_caption_columns(records, "references")
        if found is None:
            message = (
                f"no column of captions; found {_quote_names(present)} (name it with "
                f"columns: {{references: ...}})"
            )
            raise InputError(message, location, parameter="columns")
        names = list(found.names)
        others = found.others
    else:
        names = [
            match
            for name in _as_list(references)
            for match in _matching(name, records, present, location)
        ]
    return Columns(
        id=_id_column(columns, records, present, location, ids),
        captions=tuple(names),
        media=_one(columns, "media", MEDIA_COLUMNS, records, present, location),
        source=_one(columns, "source", SOURCE_COLUMNS, records, present, location),
        split=_one(columns, "split", ("split",), records, present, location)
        if split or columns.get("split")
        else None,
        other_captions=others,
    )


def _id_column(
    columns: Parameters,
    records: Sequence[Parameters],
    present: Sequence[str],
    location: str,
    usual: Sequence[str],
) -> str | None:
    if "id" in columns:
        return _one(columns, "id", usual, records, present, location)
    found = id_columns(records[0], usual) if records else []
    if not found:
        advice = "name it with columns: {id: ...}, or {id: null} numbers the rows"
        raise InputError(
            f"no column of ids; found {_quote_names(present)} ({advice})",
            location,
            parameter="columns",
        )
    return found[0]


def _one(
    columns: Parameters,
    key: str,
    usual: Sequence[str],
    records: Sequence[Parameters],
    present: Sequence[str],
    location: str,
) -> str | None:
    """Return the first present column of those under ``key``, or of the usual ones
    without that key; None for a null.
    """
    if key not in columns:
        return find_name(usual, present)
    if columns[key] is None:
        return None
    choices = [str(choice) for choice in _as_list(columns[key])]
    column = find_name(choices, present) or next(
        (name for name in choices if _leads_to_value(records, name)), None
    )
    if column is None:
        raise missing_column(choices[0], present, location)
    return column


def _leads_to_value(records: Sequence[Parameters], column: str) -> bool:
    """Return True for a dotted path with a value in one of the records."""
    return any(has_field(record, column) for record in records)


def _matching(
    name: YamlValue,
    records: Sequence[Parameters],
    present: Sequence[str],
    location: str,
) -> list[str]:
    """Return the columns that a name, path or pattern stands for; raise
    :class:`InputError` when there are none.
    """
    name = str(name)
    if name in present:
        return [name]
    found = fnmatch.filter(present, name)
    if not found and (column := find_name([name], present)):
        found = [column]
    if not found and _leads_to_value(records, name):
        found = [name]
    if not found:
        raise missing_column(name, present, location)
    return found


def missing_column(name: str, present: Collection[str], location: str) -> InputError:
    """Return the error for a column that a table lacks."""
    message = (
        f"no column '{name}'{did_you_mean(name, present)}; "
        f"found {_quote_names(present)}"
    )
    return InputError(message, location, parameter="columns", value=name)


def _as_list(value: YamlValue) -> list[YamlValue]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _quote_names(names: Iterable[str]) -> str:
    return quote_list(names, MOST_NAMES) or "none"
