"""Cells of tab-separated lines, which some programs quote and others do not.

pandas and the csv module write a cell that holds a quotation mark, a tab or the end of
a line in quotation marks, and double those inside. Files of captions are as often
written by joining texts with tabs: a caption that begins with a quotation mark is
itself there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

CELL_QUOTE = '"'
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
MOST_LINES = 1000
"""Maximum number of lines of a quoted cell."""


def unquoted(cell: str) -> str:
    """Return the text of a cell: one in quotation marks with those inside doubled is
    quoted, any other is the text itself.

    >>> unquoted('"a ""red"" bus"'), unquoted('"Hello", it says')
    ('a "red" bus', '"Hello", it says')
    """
    if len(cell) > 1 and cell[0] == CELL_QUOTE and _QUOTED.fullmatch(cell):
        return cell[1:-1].replace('""', '"')
    return cell


def tab_separated_cells(
    lines: Iterator[tuple[int, str]], width: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row of a tab-separated table;
    blank lines are left out.

    A quoted cell may hold tabs and ends of lines. It is taken for one only where the
    lines by themselves are no rows of the table: a caption that begins with a quotation
    mark never takes the following row with it.

    Parameters
    ----------
    lines : iterator of (int, str)
        Number and text of the lines behind the header, with their ends.
    width : int
        Number of cells of the header.
    """
    waiting: list[tuple[int, str]] = []
    """Lines that were looked at in vain, in reverse order."""

    def next_line() -> tuple[int, str] | None:
        return waiting.pop() if waiting else next(lines, None)

    while (numbered := next_line()) is not None:
        number, line = numbered
        text = line.rstrip("\r\n")
        if not text:
            continue

        # Most lines: no cell is quoted, or all cells are on the line.
        cells = text.split("\t")
        if CELL_QUOTE not in text:
            yield number, cells
            continue
        if len(cells) == width and not _is_open(cells[-1]):
            yield number, [unquoted(cell) for cell in cells]
            continue
        if not any(cell.startswith(CELL_QUOTE) for cell in cells):
            yield number, cells
            continue

        # Tabs or ends of lines within a quoted cell, or text that begins with a
        # quotation mark: the next line decides.
        row = _quoted_row(text, width) if len(cells) != width else None
        following: list[tuple[int, str]] = []
        joined = line
        while row is None and len(following) < MOST_LINES:
            numbered = next_line()
            if numbered is None:
                break
            following.append(numbered)
            is_row = numbered[1].count("\t") == width - 1
            if len(cells) == width and len(following) == 1 and is_row:
                break  # both lines are rows by themselves
            joined += numbered[1]
            row = _quoted_row(joined.rstrip("\r\n"), width)

        if row is None:
            waiting.extend(reversed(following))
        yield number, list(row) if row else [unquoted(cell) for cell in cells]


def _is_open(cell: str) -> bool:
    """Return True for a cell that begins as a quoted one and does not end as one."""
    return cell.startswith(CELL_QUOTE) and not _QUOTED.fullmatch(cell)


def _quoted_row(text: str, width: int) -> Sequence[str] | None:
    """Return the cells of a row as the csv module reads it; None where that is no row
    of this width.
    """
    lines = io.StringIO(text, newline="")
    try:
        rows = list(csv.reader(lines, delimiter="\t", strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 and len(rows[0]) == width else None
