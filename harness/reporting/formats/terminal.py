"""Tables in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.errors import escape_controls
from harness.reporting.table import Table

if TYPE_CHECKING:
    import rich.table
    from rich.console import Console

MIN_WIDTH = 10
"""Smallest width in characters to which a column of texts is wrapped."""


def console_for_tables(width: int = 160) -> Console:
    """Return a console on stdout: as wide as the terminal, or ``width`` characters when stdout is no terminal."""
    from rich.console import Console

    file = getattr(sys.stdout, "terminal", None)  # without the escapes of harness.cli.process
    console = Console(file=file, highlight=False)
    return console if console.is_terminal else Console(file=file, highlight=False, width=width)


def escape(text: str) -> str:
    """Return a text that rich prints as it is: its markup and control characters are escaped."""
    from rich import markup

    return markup.escape(escape_controls(text))


def print_table(table: Table) -> None:
    """Print a table on stdout, its title above and its notes below.

    Title and notes are lines of their own rather than rich's title and caption, which would wrap at the width of the table.
    """
    console = console_for_tables()
    if table.title:
        console.print(f"[dim]{escape(table.title)}[/dim]", soft_wrap=True)
    # A terminal that is too narrow breaks the lines; rich would replace the ends of the numbers by an ellipsis.
    console.width = max(console.width, least_width(table))
    console.print(terminal_grid(table))
    for note in table.notes:
        console.print(f"[dim]{escape(note)}[/dim]", soft_wrap=True)


def terminal_grid(table: Table) -> rich.table.Table:
    """Return the table without title and notes; columns of texts other than the first wrap. It needs the width :func:`least_width`."""
    from rich.table import Table as Grid

    grid = Grid(header_style="bold", show_edge=False, pad_edge=False)
    for index, (header, letter) in enumerate(zip(table.headers, table.alignment)):
        justify = "right" if letter == "r" else "left"
        grid.add_column(escape(header), justify=justify, no_wrap=index == 0 or letter == "r", overflow="fold")
    for number, row in enumerate(table.cells(), 1):
        texts = [escape(f"{cell.text} {cell.mark}".rstrip()) for cell in row]
        styled = [f"[bold]{text}[/bold]" if cell.bold else text for text, cell in zip(texts, row)]
        grid.add_row(*styled, end_section=number in table.groups)
    return grid


def least_width(table: Table) -> int:
    """Return the smallest width in characters at which the grid loses no number and no name of the first column."""
    from rich.cells import cell_len

    width = 3 * (len(table.headers) - 1)
    for index, letter in enumerate(table.alignment):
        lines = [line for text in (table.headers[index], *(row[index] for row in table.rows)) for line in escape_controls(text).split("\n")]
        content = max(map(cell_len, lines))
        width += content if index == 0 or letter == "r" else min(content, MIN_WIDTH)
    return width
