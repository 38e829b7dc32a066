"""Columns that tell apart records of one id: those of several models, steps or
languages in one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.files.captions import quote_list
from harness.files.columns import find_name, is_id
from harness.files.records import Record

GROUP_COLUMNS = (
    "model",
    "model_name",
    "model_id",
    "system",
    "method",
    "checkpoint",
    "run",
    "run_id",
    "epoch",
    "step",
    "global_step",
    "lang",
    "language",
)
"""Usual names of such columns; the samples of one model have none of them."""
MOST_VALUES = 4
"""Number of values that a remark lists."""


class RowGroups:
    """Values of the first such column in the records of a file.

    Parameters
    ----------
    head : sequence of Record
        The first records.
    used : iterable of str
        Columns of ids and captions, which are none.
    """

    def __init__(self, head: Sequence[Record], used: Iterable[str]) -> None:
        taken = set(used)
        present = [
            name for name in (head[0].fields if head else ()) if name not in taken
        ]
        self.column = find_name(GROUP_COLUMNS, present)
        self.values: dict[str, None] = {}

    def watch(self, rows: Iterable[Record]) -> Iterator[Record]:
        """Return the records, whose values are noted as they are read."""
        if self.column is None:
            return iter(rows)
        return self._note_values(rows, self.column)

    def _note_values(self, rows: Iterable[Record], column: str) -> Iterator[Record]:
        for row in rows:
            value = row.fields.get(column)
            if len(self.values) <= MOST_VALUES and is_id(value):
                self.values[str(value)] = None
            yield row

    def remark(self, *, repeated: bool) -> str:
        """Return the phrase on records of several values whose ids are repeated; empty
        where there is nothing to say.
        """
        if not repeated or len(self.values) < 2:
            return ""
        return (
            f"records of several values of '{self.column}' "
            f"({quote_list(self.values, MOST_VALUES)}) are one set for each id"
        )
