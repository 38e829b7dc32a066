"""Readings of files: their form, columns and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol, cast, runtime_checkable

from harness.contracts.parameters import Values
from harness.errors import counted

__all__ = ["EVENTS", "Events", "ListsIds", "Reading", "Role", "ShowsReadings"]

Role = Literal["candidates", "references"]
"""Captions that a file is read for."""
Events = Literal["paragraph", "separate", "sets"]
"""Treatment of texts with times: joined to one text, each an item of its own, or a set
of events (:class:`~harness.contracts.EventSet`) for metrics of events.
"""
EVENTS: tuple[Events, ...] = ("paragraph", "separate", "sets")
SHOWN_ITEMS = 3
"""Number of items that a reading keeps as examples."""
MOST_NAMES = 5
"""Number of columns that the line of a reading lists."""
KEYS = "(keys)"
"""Name of the ids of an object whose keys are ids."""


@dataclass(frozen=True)
class Reading:
    """Reading of a file: its form, columns and numbers, what was left out, and what was
    chosen among alternatives.
    """

    path: str
    role: Role
    form: str
    """Name of the form of the file."""
    id: str | None
    """Column of the ids; ``(keys)`` for the keys of an object, None for positions."""
    columns: tuple[str, ...]
    """Columns of the captions; empty for a form without columns."""
    items: int
    texts: int
    """Number of captions of all items."""
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    """Name of a thing that was not read -> its number."""
    possible_ids: tuple[str, ...] = ()
    """Columns that could hold the ids, where there are several."""
    other_ids: tuple[str, ...] = ()
    """Columns that give other ids, and were not taken."""
    other_columns: tuple[str, ...] = ()
    """Columns that could hold captions by their names, and were not taken."""
    remarks: tuple[str, ...] = ()
    """Phrases about ids that were matched though they are not equal."""
    examples: Mapping[str, Sequence[str]] = field(
        default_factory=dict[str, Sequence[str]]
    )
    """The first items: id -> captions as they were understood."""

    def line(self) -> str:
        """Return the reading in one line."""
        if self.id is None:
            ids = "position"
        else:
            ids = "key" if self.id == KEYS else f"'{self.id}'"
        if self.other_ids:
            ids += f" (not {_names(self.other_ids)})"

        noun = "reference" if self.role == "references" else "caption"
        columns = f", {noun}s in {_names(self.columns)}" if self.columns else ""
        if self.other_columns:
            columns += f" (not {_names(self.other_columns)})"

        clauses = [
            f"{self.path}: read as {self.form}, ids by {ids}{columns}: "
            f"{counted(self.items, 'item')}, {counted(self.texts, noun)}",
            *self.remarks,
        ]
        left_out = [f"{name} ({number:,})" for name, number in self.left_out.items()]
        if left_out:
            clauses.append(f"left out: {', '.join(left_out)}")
        return "; ".join(clauses)

    @property
    def decided(self) -> bool:
        """True where something was chosen among alternatives or left out."""
        return bool(
            self.other_ids or self.other_columns or self.remarks or self.left_out
        )

    def to_dict(self) -> Values:
        """Return the fields as JSON values."""
        values: Values = asdict(self)
        for name, value in values.items():
            if isinstance(value, tuple):
                values[name] = list(cast("tuple[str, ...]", value))
        return values


def _names(names: Sequence[str]) -> str:
    """Return the first names, quoted and separated by commas."""
    listed = ", ".join(f"'{name}'" for name in names[:MOST_NAMES])
    return f"{listed}, ..." if len(names) > MOST_NAMES else listed


@runtime_checkable
class ShowsReadings(Protocol):
    """A reader or an adapter that says how it read its files."""

    def readings(self) -> Sequence[Reading]:
        """Return one reading per file, after the files were read (a reader: iterated;
        an adapter: prepared).
        """
        ...


@runtime_checkable
class ListsIds(Protocol):
    """A reader or an adapter of files whose ids may be in one of several columns."""

    def id_columns(self) -> Mapping[str, Sequence[str]] | None:
        """Return the columns that can hold the ids, in order of preference,
        with the id of each record.

        Columns of other names where none has a usual name of ids; None where there is
        nothing to choose: the column is given, or is the only one, or the ids are no
        column.
        """
        ...
