"""Records of a file of captions, with the name of its form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from harness.files.records import Record

FORMS_OF_KEYS = frozenset(("mapping", "pairs", "flickr"))
"""Names of forms whose ids are in no named column."""
FORMS_WITHOUT_COLUMNS = frozenset((*FORMS_OF_KEYS, "list", "txt"))
"""Names of forms whose captions are in no named column."""


@dataclass(frozen=True)
class Form:
    """Records of a file and the name of its form."""

    name: str
    rows: Iterable[Record]
    numbered: bool = False
    """True for records without ids: the k-th record belongs to the k-th example."""
    key: str = ""
    """Key of the object that holds the records; empty when the file is not wrapped."""
    ids: tuple[str, ...] = ()
    """Columns of ids that the form knows, the preferred one first; empty where the
    names of the columns decide.
    """
    left_out: dict[str, int] = field(default_factory=dict)
    """Reason -> number of what was left out for it, such as ``{"failed requests": 2}``;
    counted as the rows are read.
    """

    def head(self) -> tuple[Record | None, Form]:
        """Return the first record, None for a file without records, and the form with
        all records.
        """
        rows = iter(self.rows)
        start = list(islice(rows, 1))
        return (start[0] if start else None), replace(self, rows=chain(start, rows))
