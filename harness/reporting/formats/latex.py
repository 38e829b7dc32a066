"""Tables for LaTeX: ``tabular`` with the rules of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from harness.reporting.table import Table, TableCell

_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "…": r"\ldots{}", "–": "--", "−": "$-$", "×": r"$\times$", "≤": r"$\leq$",
}  # fmt: skip


def to_latex(table: Table) -> str:
    r"""Return a ``tabular``; title and notes are comments above it.

    A paper has its own ``table`` environment and caption, so the text is only what goes between them. Comments survive a paste, and
    they carry what the caption must say: the test, its draws, the meaning of the letters.
    """
    comments = [f"% {' '.join(note.split())}" for note in (table.title, *table.notes) if note]
    lines = [r"% needs \usepackage{booktabs}", *comments, f"\\begin{{tabular}}{{{table.alignment}}}", r"\toprule"]
    lines += [_line(map(escape_latex, table.headers)), r"\midrule"]
    for number, row in enumerate(table.cells()):
        if number and number in table.groups:
            lines.append(r"\addlinespace")  # booktabs separates groups by space, not by a rule
        lines.append(_line(map(_cell, row)))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _cell(cell: TableCell) -> str:
    text = escape_latex(cell.text)
    strong = f"\\textbf{{{text}}}" if cell.bold else text
    # A mark takes no width (\rlap): the digits of a right-aligned column stay one below the other.
    return strong + (f"\\rlap{{\\textsuperscript{{{escape_latex(cell.mark)}}}}}" if cell.mark else "")


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def escape_latex(text: str) -> str:
    r"""Return the text with LaTeX's special characters escaped and the minus of numbers in math mode.

    >>> print(escape_latex("cand_1: -0.5 & 95 %"))
    cand\_1: $-$0.5 \& 95 \%
    """
    escaped = "".join(_ESCAPES.get(character, character) for character in " ".join(text.split()))
    # A minus before a digit is a sign where no letter, digit, point or other minus precedes it: gpt-2 and 1e-05 keep their hyphens.
    return re.sub(r"(?<![\w.\-])-(?=\d)", "$-$", escaped)
