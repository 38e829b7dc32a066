"""Tables as CSV (RFC 4180), numbers in full."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from harness.reporting.table import Table

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?", re.IGNORECASE)


def to_csv(table: Table) -> str:
    """Return the data of a table as CSV; its texts where it has no data."""
    return delimit(table.data or [table.headers, *table.rows])


def delimit(rows: Sequence[Sequence[object]], delimiter: str = ",") -> str:
    """Return rows as CSV (RFC 4180), numbers in full.

    A text that a spreadsheet would read as a formula, because it begins with ``= + - @`` or a tab and is no number, begins with an
    apostrophe instead.
    """
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(map(_inert, row) for row in rows)
    return out.getvalue()


def _inert(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
