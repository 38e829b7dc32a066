"""Tables in Markdown: pipe tables with their titles and notes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from harness.reporting.table import Table, TableCell


def to_markdown(table: Table) -> str:
    """Return a pipe table with its title and notes; markup in texts is escaped."""
    rules = ["---:" if letter == "r" else "---" for letter in table.alignment]
    lines = [_line(map(escape_markdown, table.headers)), _line(rules)]
    lines += [_line(map(_cell, row)) for row in table.cells()]
    if table.title:
        lines = [escape_markdown(table.title), "", *lines]
    if table.notes:
        # Two spaces at the end of a line break it, so that the notes do not run into
        # one paragraph.
        lines += ["", *(escape_markdown(note) + "  " for note in table.notes)]
    return "\n".join(lines) + "\n"


def markdown_page(table: Table) -> str:
    """Return a table as a Markdown file of its own: the title as a heading, no notes,
    columns as wide as a reader's program likes.
    """
    plain = replace(table, title="", notes=(), alignment="l" * len(table.headers))
    return f"# {escape_markdown(table.title)}\n\n{to_markdown(plain)}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: TableCell) -> str:
    text = "<br>".join(map(escape_markdown, cell.text.split("\n")))
    strong = f"**{text}**" if cell.bold and text else text
    return strong + (f"<sup>{escape_markdown(cell.mark)}</sup>" if cell.mark else "")


def escape_markdown(text: str) -> str:
    """Return the text on one line with the markup of Markdown and HTML escaped.

    >>> escape_markdown("a_b | <c>")
    'a\\\\_b \\\\| &lt;c>'
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)
