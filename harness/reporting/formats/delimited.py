"""Tables as CSV (RFC 4180), numbers in full."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from harness.reporting.table import Table

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
LINE_END = "\r\n"
"""End of a row while it is written; in the text a row ends with a line feed."""


def to_csv(table: Table) -> str:
    """Return the data of a table as CSV; its texts where it has no data."""
    return delimit(table.data or [table.headers, *table.rows])


def delimit(rows: Sequence[Sequence[object]], delimiter: str = ",") -> str:
    """Return rows as CSV (RFC 4180), numbers in full.

    A text that a spreadsheet would read as a formula, because it begins with
    ``= + - @`` or a tab and is no number, begins with an apostrophe instead. A text
    with a carriage return, which ends a row where it is not quoted, is quoted.
    """
    # The writer quotes the characters of its line end alone: of ``\n`` it would leave a
    # carriage return as it is.
    written = _Rows()
    csv.writer(written, delimiter=delimiter, lineterminator=LINE_END).writerows(
        map(_inert, row) for row in rows
    )
    return "".join(f"{row.removesuffix(LINE_END)}\n" for row in written.rows)


class _Rows:
    """File of a CSV writer, which writes a row in one call."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    def write(self, row: str) -> None:
        self.rows.append(row)


def _inert(cell: object) -> object:
    if (
        isinstance(cell, str)
        and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        and not _NUMBER.fullmatch(cell)
    ):
        return f"'{cell}"
    return cell
