"""Tables for Typst: ``#table`` with three rules, without packages."""

from __future__ import annotations

from harness.reporting.table import (
    MINUS,
    Numbers,
    Table,
    TableCell,
    longest,
    longest_mark,
    number_columns,
)

LETTER_WIDTH = 0.36
"""Room for a letter set high, in em."""


def to_typst(table: Table) -> str:
    """Return a ``#table``; title and notes are comments above it.

    Texts are strings, which have no markup. Numbers end in hidden digits and in room
    for the longest letters of their column, so that decimal points stand one below the
    other.
    """
    numbers = number_columns(table)
    aligned = ", ".join(
        "right" if letter == "r" else "left" for letter in table.alignment
    )
    comments = [
        f"// {' '.join(note.split())}" for note in (table.title, *table.notes) if note
    ]
    lines = [
        *comments,
        "#[",
        '#set text(number-width: "tabular")',
        "#table(",
        f"  columns: {len(table.headers)}, align: ({aligned},), stroke: none,",
        "  table.hline(),",
        f"  table.header({', '.join(map(_string, table.headers))}),",
        "  table.hline(stroke: 0.5pt),",
    ]
    for i, row in enumerate(table.cells()):
        if i and i in table.groups:
            lines.append("  table.hline(stroke: 0.25pt),")
        cells: list[str] = []
        for k, cell in enumerate(row):
            room = LETTER_WIDTH * len(longest_mark(table, k))
            cells.append(_cell(cell, i, numbers.get(k, ()), room))
        lines.append(f"  {', '.join(cells)},")
    return "\n".join([*lines, "  table.hline(),", ")", "]"]) + "\n"


def _cell(cell: TableCell, row: int, numbers: Numbers, room: float) -> str:
    match = numbers[row] if numbers else None
    text = _string(cell.text)
    missing = ""
    if match and match["power"]:
        digits = cell.text.partition("e")[0]
        power = f"{int(match['power'])}"
        text = (
            f"{_string(f'{digits} × 10')} + super({_string(power)}) "
            f"+ {_string(match['star'])}"
        )
    elif match:  # what the number lacks to end where the longest one ends
        decimals = len(match["decimals"] or "")
        most = longest(numbers, "decimals")
        missing = (
            "." * bool(most and not decimals)
            + "0" * (most - decimals)
            + "*" * (longest(numbers, "star") - len(match["star"]))
        )

    parts = [f"strong({text})" if cell.bold and cell.text else text]
    if missing:
        parts.append(f"hide({_string(missing)})")
    if room:
        mark = _string(cell.mark)
        parts.append(f"box(width: {room:.2f}em, align(left, super({mark})))")
    return " + ".join(parts)


def _string(text: str) -> str:
    r"""Return a string of Typst, numbers with a minus sign.

    >>> print(_string('a "b" -1'))
    "a \"b\" −1"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{MINUS.sub("−", escaped)}"'
