"""Tables for LaTeX: ``tabular`` with the rules of the package booktabs and the number
columns of siunitx.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.reporting.table import (
    MINUS,
    Numbers,
    Table,
    TableCell,
    longest,
    longest_mark,
    number_columns,
)

_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "…": r"\ldots{}",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
}
_END = r" \\"
_SETTINGS = (
    "mode=text, reset-text-series=false, retain-explicit-plus, "
    "table-align-text-after=false, table-align-exponent=false"
)
"""Numbers in the font and weight of the text, so that bold reaches them,
and letters directly behind them.
"""


def to_latex(table: Table) -> str:
    r"""Return a ``tabular``; title and notes are comments above it.

    Columns of numbers are columns ``S`` of siunitx: decimal points stand one below the
    other, and the column has room for its longest letters behind them. A paper has its
    own ``table`` environment and caption, so the text is only what goes between them.
    Comments survive a paste, and they carry what the caption must say: the test, its
    draws, the meaning of the letters.
    """
    numbers = number_columns(table)
    columns = [
        _column(numbers[k], longest_mark(table, k)) if k in numbers else letter
        for k, letter in enumerate(table.alignment)
    ]
    # the settings of siunitx hold for this table alone, in a group of TeX
    packages, begin, end = (
        ("booktabs,siunitx", rf"{{\sisetup{{{_SETTINGS}}}%" + "\n", "}")
        if numbers
        else ("booktabs", "", "")
    )

    comments = [
        f"% {' '.join(note.split())}" for note in (table.title, *table.notes) if note
    ]
    headers = " & ".join(f"{{{_lines(text)}}}" for text in table.headers)
    lines = [
        rf"% needs \usepackage{{{packages}}}",
        *comments,
        rf"{begin}\begin{{tabular}}{{{' '.join(columns)}}}",
        r"\toprule",
        headers + _END,
        r"\midrule",
    ]
    for i, row in enumerate(table.cells()):
        if i and i in table.groups:
            # booktabs separates groups by space, not by a rule
            lines.append(r"\addlinespace")
        cells = [_cell(cell, i, numbers.get(k, ())) for k, cell in enumerate(row)]
        lines.append(" & ".join(cells) + _END)
    return "\n".join([*lines, r"\bottomrule", rf"\end{{tabular}}{end}"]) + "\n"


def _column(numbers: Numbers, mark: str) -> str:
    """Return a column of siunitx with room for the longest number and the longest
    letters.
    """
    sign, power, behind = (
        max((match[name] or "" for match in numbers if match), key=len)
        for name in ("sign", "power", "star")
    )
    size = f"{sign}{longest(numbers, 'whole')}.{longest(numbers, 'decimals')}"
    if power:
        size += f"e-{len(power.lstrip('-'))}"
    return f"S[table-format={size}{{{behind}{_raise_mark(mark)}}}]"


def _cell(cell: TableCell, row: int, numbers: Numbers) -> str:
    """Return a cell of a column of texts (without ``numbers``), or one of a column of
    siunitx, where texts are in braces.
    """
    mark = _raise_mark(cell.mark)
    match = numbers[row] if numbers else None
    if match:
        weight = r"\bfseries " if cell.bold else ""
        digits = match[0].removesuffix("*").replace("e+", "e")
        return f"{weight}{digits} {{{match['star']}{mark}}}".removesuffix(" {}")

    text = _lines(cell.text)
    if cell.bold and text:
        text = rf"\textbf{{{text}}}"
    return f"{{{text}{mark}}}" if numbers else f"{text}{mark}"


def _raise_mark(mark: str) -> str:
    return rf"\textsuperscript{{\mdseries {escape_latex(mark)}}}" if mark else ""


def _lines(text: str) -> str:
    lines = r" \\ ".join(escape_latex(line) for line in text.split("\n"))
    return rf"\shortstack{{{lines}}}" if "\n" in text else lines


def escape_latex(text: str) -> str:
    r"""Return the text with LaTeX's special characters escaped and the minus of numbers
    in math mode.

    >>> print(escape_latex("cand_1: -0.5 & 95 %"))
    cand\_1: $-$0.5 \& 95 \%
    """
    escaped = "".join(
        _ESCAPES.get(character, character) for character in " ".join(text.split())
    )
    return MINUS.sub("$-$", escaped)
