"""Tables as text: terminal, Markdown, LaTeX and CSV from one description."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
FORMATS = ("table", "markdown", "latex", "csv", "json")
"""Formats of ``--format``; ``json`` prints records in place of a table."""

MIN_WIDTH = 10
"""Smallest width in characters to which a column of texts is wrapped in the terminal."""

_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "…": r"\ldots{}", "–": "--", "−": "$-$", "×": r"$\times$", "≤": r"$\leq$",
}  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """A table: headers, rows of texts, alignment, and the same numbers in full for CSV."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    alignment: str
    """One letter per column: ``l`` or ``r``."""
    title: str = ""
    notes: Sequence[str] = ()
    """Lines below the table."""
    bold: frozenset[tuple[int, int]] = frozenset()
    """Cells in bold, as (row, column)."""
    groups: frozenset[int] = frozenset()
    """Rows that begin a group; a rule or a space precedes them."""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """Letters set high behind the text of cells, by (row, column)."""
    data: Sequence[Sequence[object]] = ()
    """Header and rows of the CSV, numbers in full; empty: ``headers`` and ``rows``."""


def render(sheet: Sheet, form: str) -> str:
    """Return a table as ``markdown``, ``latex`` or ``csv``; the terminal has :func:`terminal_table`."""
    return {"markdown": markdown_table, "latex": latex_table, "csv": _sheet_csv}[form](sheet)


def terminal_table(sheet: Sheet) -> Table:
    """Return the table without title and notes for the terminal; columns of texts other than the first wrap.

    It needs the width :func:`least_width`.
    """
    from rich.markup import escape
    from rich.table import Table

    table = Table(header_style="bold", show_edge=False, pad_edge=False)
    for index, (header, letter) in enumerate(zip(sheet.headers, sheet.alignment)):
        justify = "right" if letter == "r" else "left"
        table.add_column(escape(header), justify=justify, no_wrap=index == 0 or letter == "r", overflow="fold")
    for number, row in enumerate(sheet.rows):
        cells = [
            _strong_terminal(escape(f"{cell} {sheet.marks.get((number, k), '')}".rstrip()), (number, k) in sheet.bold)
            for k, cell in enumerate(row)
        ]
        table.add_row(*cells, end_section=number + 1 in sheet.groups)
    return table


def _strong_terminal(cell: str, bold: bool) -> str:
    return f"[bold]{cell}[/bold]" if bold else cell


def least_width(sheet: Sheet) -> int:
    """Return the smallest width in characters at which the terminal's table loses no number and no name of the first column."""
    from rich.cells import cell_len

    width = 3 * (len(sheet.headers) - 1)
    for index, letter in enumerate(sheet.alignment):
        content = max(cell_len(text) for text in [sheet.headers[index], *(row[index] for row in sheet.rows)])
        width += content if index == 0 or letter == "r" else min(content, MIN_WIDTH)
    return width


def markdown_table(sheet: Sheet) -> str:
    """Return a pipe table with its title and notes; markup in texts is escaped."""
    rules = ["---:" if letter == "r" else "---" for letter in sheet.alignment]
    lines = [markdown_line(list(map(escape_markdown, sheet.headers))), markdown_line(rules)]
    for number, row in enumerate(sheet.rows):
        marks = [
            f"<sup>{escape_markdown(mark)}</sup>" if (mark := sheet.marks.get((number, k))) else ""
            for k in range(len(row))
        ]
        lines.append(markdown_line([_strong(cell, (number, k) in sheet.bold) + marks[k] for k, cell in enumerate(row)]))
    title = [escape_markdown(sheet.title), ""] if sheet.title else []
    notes = ["", *(escape_markdown(note) + "  " for note in sheet.notes)] if sheet.notes else []
    return "\n".join([*title, *lines, *notes]) + "\n"


def _strong(cell: str, bold: bool) -> str:
    text = escape_markdown(cell)
    return f"**{text}**" if bold and text else text


def markdown_line(cells: Sequence[str]) -> str:
    """Return one row of a pipe table."""
    return "| " + " | ".join(cells) + " |"


def escape_markdown(text: str) -> str:
    """Return the text on one line with the markup of Markdown and HTML escaped.

    >>> escape_markdown("a_b | <c>")
    'a\\\\_b \\\\| &lt;c>'
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)


def latex_table(sheet: Sheet) -> str:
    r"""Return a ``tabular`` with the rules of the package booktabs; title and notes are comments."""
    lines = [
        r"% needs \usepackage{booktabs}",
        *(f"% {' '.join(note.split())}" for note in (sheet.title, *sheet.notes) if note),
    ]
    lines += [
        f"\\begin{{tabular}}{{{sheet.alignment}}}",
        r"\toprule",
        _latex_line(map(escape_latex, sheet.headers)),
        r"\midrule",
    ]
    for number, row in enumerate(sheet.rows):
        if number and number in sheet.groups:
            lines.append(r"\addlinespace")
        lines.append(_latex_line(_latex_cell(sheet, number, k) for k in range(len(row))))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cell(sheet: Sheet, row: int, column: int) -> str:
    """Return a cell in bold where the sheet has it so, with its mark as a superscript that takes no width."""
    text, mark = escape_latex(sheet.rows[row][column]), sheet.marks.get((row, column))
    strong = f"\\textbf{{{text}}}" if (row, column) in sheet.bold else text
    return strong + (f"\\rlap{{\\textsuperscript{{{escape_latex(mark)}}}}}" if mark else "")


def _latex_line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def escape_latex(text: str) -> str:
    r"""Return the text with LaTeX's special characters escaped and the minus of numbers in math mode.

    >>> print(escape_latex("cand_1: -0.5 & 95 %"))
    cand\_1: $-$0.5 \& 95 \%
    """
    escaped = "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
    return re.sub(r"(?<![\w.\-])-(?=\d)", "$-$", escaped)


def _sheet_csv(sheet: Sheet) -> str:
    return to_csv(sheet.data or [sheet.headers, *sheet.rows])


def to_csv(rows: Sequence[Sequence[object]], delimiter: str = ",") -> str:
    """Return rows as CSV (RFC 4180), numbers in full.

    A text that a spreadsheet would read as a formula, because it begins with ``= + - @`` or a tab and is no number, begins with an
    apostrophe instead.
    """
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(
        [[_inert(cell) for cell in row] for row in rows]
    )
    return out.getvalue()


def _inert(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
