"""Tables in HTML, for pages and notebooks."""

from __future__ import annotations

import html
from itertools import islice

from harness.reporting.table import Bar, Table, TableCell

NUMBERS = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
TEXTS = "text-align:left"
"""Styles of the cells. They stand at each cell:
notebooks remove style sheets from what they show.
"""


def to_html(table: Table, most_rows: int | None = None) -> str:
    """Return a table with its notes below; all texts are escaped, and rows beyond
    ``most_rows`` are counted below the table.
    """
    styles = [NUMBERS if letter == "r" else TEXTS for letter in table.alignment]
    head = "".join(
        f'<th style="{style}">{_lines(text)}</th>'
        for style, text in zip(styles, table.headers)
    )
    rows: list[str] = []
    for row in islice(table.cells(), most_rows):
        cells = "".join(
            f'<td style="{style}">{_cell(cell)}</td>'
            for style, cell in zip(styles, row)
        )
        rows.append(f"<tr>{cells}</tr>")
    body = "".join(rows)

    notes = list(table.notes)
    missing = len(table.rows) - len(rows)
    if missing > 0:
        notes.insert(0, f"{missing} more rows")
    foot = "".join(
        f"<div><small>{html.escape(note)}</small></div>" for note in notes if note
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _cell(cell: TableCell) -> str:
    text = _lines(cell.text)
    if cell.bold:
        text = f"<b>{text}</b>"
    if cell.mark:
        text += f"<sup>{html.escape(cell.mark)}</sup>"
    if cell.bar:
        text += _svg(cell.bar)
    return text


def _lines(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def _svg(bar: Bar) -> str:
    """Return an interval as a line and its number as a dot;
    the text of the cell says the same.
    """
    low, high, value = (round(4 + 112 * position, 1) for position in bar)
    return (
        '<svg width="120" height="10" aria-hidden="true" '
        'style="display:block;margin-left:auto">'
        f'<line x1="{low}" x2="{high}" y1="5" y2="5" stroke="currentColor" '
        'stroke-opacity=".45" stroke-width="4"/>'
        f'<circle cx="{value}" cy="5" r="4" fill="currentColor"/></svg>'
    )
