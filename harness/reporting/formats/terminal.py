"""Tables in the terminal, as wide as it is: narrow ones break headers and names, leave
columns out, or stand in parts.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from harness.errors import escape_controls
from harness.reporting.table import Table

if TYPE_CHECKING:
    import rich.table
    from rich.console import Console

MIN_WIDTH = 10
MIN_FIRST = 16
"""Smallest width in characters to which a column of texts, and the first column,
is wrapped.
"""
GAP = 3
"""Characters between two columns."""
ABOUT_BOLD = ("bold: ", "not in bold: ")
"""Beginnings of notes on bold values, which a pipe does not have."""


def console_for_tables(width: int = 160, file: IO[str] | None = None) -> Console:
    """Return a console on a file (default: stdout): as wide as the terminal, or
    ``width`` characters where it is none.
    """
    from rich.console import Console

    # without the escapes of harness.cli.process
    file = file or getattr(sys.stdout, "terminal", None)
    console = Console(file=file, highlight=False)
    if console.is_terminal:
        return console
    return Console(file=file, highlight=False, width=width)


def escape(text: str) -> str:
    """Return a text that rich prints as it is:
    its markup and control characters are escaped.
    """
    from rich import markup

    return markup.escape(escape_controls(text))


def print_line(console: Console, text: str, style: str = "dim") -> None:
    """Print a text of others; a terminal breaks it at words,
    a pipe has it on one line.
    """
    line = f"[{style}]{escape(text)}[/{style}]" if style else escape(text)
    console.print(line, soft_wrap=not console.is_terminal)


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table on a console (default: stdout), its title above and its notes
    below.

    Title and notes are lines of their own rather than rich's title and caption, which
    would wrap at the width of the table. A pipe has all columns side by side, however
    wide they are.
    """
    console = console or console_for_tables()
    terminal = console.is_terminal
    if table.title:
        print_line(console, table.title)

    parts = table_parts(table, console.width) if terminal else [table]
    for number, part in enumerate(parts):
        if number:
            console.print()
        # Rich would replace the ends of the numbers by an ellipsis where it has less.
        needed = least_width(part) if terminal else _total(_widths(part, part.headers))
        console.width = max(console.width, needed)
        console.print(terminal_grid(part, console.width))

    for note in table.notes:
        if terminal or not note.startswith(ABOUT_BOLD):
            print_line(console, note)
    present = {header for part in parts for header in part.headers}
    absent = [header for header in table.headers if header not in present]
    if absent:
        names = ", ".join(" ".join(header.split()) for header in absent)
        print_line(
            console, f"left out at this width: {names} (a wider terminal has them)"
        )


def table_parts(table: Table, width: int) -> list[Table]:
    """Return a table as parts that are at most ``width`` characters wide where its
    numbers allow it.

    Columns of :attr:`Table.secondary` are left out first, in their order. A table that
    is still too wide is divided: each part begins with the columns of texts that name
    the rows.
    """
    columns = list(range(len(table.headers)))
    part = table
    for header in (None, *table.secondary):
        columns = [column for column in columns if table.headers[column] != header]
        part = table.select(columns)
        if least_width(part) <= width:
            return [part]

    # the columns of texts at the left name the rows, in each part
    names = max(1, len(part.alignment) - len(part.alignment.lstrip("l")))
    divided: list[list[int]] = []
    for column in range(names, len(columns)):
        if divided and least_width(part.select([*divided[-1], column])) <= width:
            divided[-1].append(column)
        else:
            divided.append([*range(names), column])
    return [part.select(columns) for columns in divided] or [part]


def terminal_grid(table: Table, width: int) -> rich.table.Table:
    """Return the table without title and notes, at most ``width`` or
    :func:`least_width` characters wide.

    Where the table is wider, headers are broken at spaces and columns of texts are
    wrapped, the widest first.
    """
    from rich.table import Table as Grid

    headers = list(table.headers)
    widths = _widths(table, table.headers)
    least = _least_widths(table)
    if _total(widths) > width:
        contents = _widths(table, [""] * len(headers))
        headers = [
            _break_header(header, size) for header, size in zip(headers, contents)
        ]
        widths = _widths(table, headers)
        # the widest column that can be wrapped gives one character at a time
        while _total(widths) > width and widths != least:
            wrapped = [k for k in range(len(widths)) if widths[k] > least[k]]
            widths[max(wrapped, key=widths.__getitem__)] -= 1

    grid = Grid(header_style="bold", show_edge=False, pad_edge=False)
    for header, size, letter in zip(headers, widths, table.alignment):
        grid.add_column(
            escape(header),
            justify="right" if letter == "r" else "left",
            width=size,
            overflow="fold",
        )
    for number, row in enumerate(table.cells(), 1):
        texts = [escape(f"{cell.text} {cell.mark}".rstrip()) for cell in row]
        styled = [
            f"[bold]{text}[/bold]" if cell.bold else text
            for text, cell in zip(texts, row)
        ]
        grid.add_row(*styled, end_section=number in table.groups)
    return grid


def least_width(table: Table) -> int:
    """Return the smallest width in characters at which the grid loses no number;
    texts and headers are broken.
    """
    return _total(_least_widths(table))


def _least_widths(table: Table) -> list[int]:
    contents = _widths(table, [""] * len(table.headers))
    headers = [
        _break_header(header, size) for header, size in zip(table.headers, contents)
    ]
    whole = _widths(table, headers)
    return [
        size if letter == "r" else min(size, MIN_WIDTH if number else MIN_FIRST)
        for number, (size, letter) in enumerate(zip(whole, table.alignment))
    ]


def _widths(table: Table, headers: Sequence[str]) -> list[int]:
    """Return the width of each column with these headers: that of its longest line,
    at least 1.
    """
    from rich.cells import cell_len

    rows = [list(headers)]
    for row in table.cells():
        rows.append([f"{cell.text} {cell.mark}".rstrip() for cell in row])

    widths: list[int] = []
    for column in zip(*rows):
        lines = [line for text in column for line in escape_controls(text).split("\n")]
        widths.append(max(1, *map(cell_len, lines)))
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _break_header(header: str, width: int) -> str:
    """Return a header whose lines are broken at spaces where they are wider than the
    column.
    """
    width = max([width, *map(len, header.split())])
    lines: list[str] = []
    for text in header.split("\n"):
        lines += textwrap.wrap(text, width, break_long_words=False)
    return "\n".join(lines)
