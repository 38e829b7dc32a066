"""Columns of a table of examples, from the parameter ``columns`` of the user and from
the usual names.
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

COLUMN_NAMES = ("id", "references", "media", "source", "split")
"""Keys of the parameter ``columns``."""
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
            f"columns is {kind(columns)}; expected a mapping such as "
            "{id: image_id, references: captions}",
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
    table = _TableHead(columns, records, location)
    captions, others = table.caption_columns()
    looks_for_split = split or bool(columns.get("split"))
    return Columns(
        id=table.id_column(ids),
        captions=captions,
        media=table.find_column("media", MEDIA_COLUMNS),
        source=table.find_column("source", SOURCE_COLUMNS),
        split=table.find_column("split", ("split",)) if looks_for_split else None,
        other_captions=others,
    )


class _TableHead:
    """The first records of a table, in which columns are looked up.

    Parameters are those of :func:`find_columns`.
    """

    def __init__(
        self, columns: Parameters, records: Sequence[Parameters], location: str
    ) -> None:
        self.columns = columns
        self.records = records
        self.location = location
        self.present = list(dict.fromkeys(name for row in records for name in row))
        """Columns of the table."""

    def caption_columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the columns of the references, and those that could be too."""
        references = self.columns.get("references")
        if references is not None:
            names: list[str] = []
            for name in _as_list(references):
                names += self._matching_columns(str(name))
            return tuple(names), ()

        columns = find_caption_columns(self.records, "references")
        if columns is None:
            raise InputError(
                f"no column of captions; found {_quote_names(self.present)} (name it "
                "with columns: {references: ...})",
                self.location,
                parameter="columns",
            )
        return columns.names, columns.others

    def id_column(self, usual: Sequence[str]) -> str | None:
        """Return the column of the ids; None for rows that are numbered."""
        if "id" in self.columns:
            return self.find_column("id", usual)
        columns = id_columns(self.records[0], usual) if self.records else []
        if not columns:
            advice = "name it with columns: {id: ...}, or {id: null} numbers the rows"
            raise InputError(
                f"no column of ids; found {_quote_names(self.present)} ({advice})",
                self.location,
                parameter="columns",
            )
        return columns[0]

    def find_column(self, key: str, usual: Sequence[str]) -> str | None:
        """Return the first present column of those under ``key``, or of the usual ones
        without that key; None for a null.
        """
        if key not in self.columns:
            return find_name(usual, self.present)
        if self.columns[key] is None:
            return None

        choices = [str(choice) for choice in _as_list(self.columns[key])]
        column = find_name(choices, self.present)
        if column:
            return column
        for name in choices:
            if self._leads_to_value(name):
                return name
        raise missing_column(choices[0], self.present, self.location)

    def _matching_columns(self, name: str) -> list[str]:
        """Return the columns that a name, path or pattern stands for; raise
        :class:`InputError` when there are none.
        """
        if name in self.present:
            return [name]
        matches = fnmatch.filter(self.present, name)
        if matches:
            return matches
        column = find_name([name], self.present)
        if column:
            return [column]
        if self._leads_to_value(name):
            return [name]
        raise missing_column(name, self.present, self.location)

    def _leads_to_value(self, column: str) -> bool:
        """Return True for a dotted path with a value in one of the records."""
        return any(has_field(record, column) for record in self.records)


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
