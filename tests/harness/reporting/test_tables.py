"""Tables in Markdown, LaTeX and CSV, and their widths in the terminal."""

from __future__ import annotations

import csv
import io

import pytest
from rich.console import Console

from harness.reporting.tables import Sheet, escape_latex, escape_markdown, least_width, render, terminal_table, to_csv

SHEET = Sheet(
    headers=["metric", "system", "value"],
    rows=[["cider ↑", "a_b & co", "0.5"], ["", "50 % [x]", "-0.25"], ["trm ↓", "c", "–"]],
    alignment="llr",
    title="2 examples",
    notes=["difference: to a_b"],
    bold=frozenset({(0, 2)}),
    groups=frozenset({0, 2}),
)


def test_markdown():
    assert render(SHEET, "markdown").splitlines() == [
        "2 examples",
        "",
        "| metric | system | value |",
        "| --- | --- | ---: |",
        r"| cider ↑ | a\_b &amp; co | **0.5** |",
        r"|  | 50 % \[x\] | -0.25 |",
        "| trm ↓ | c | – |",
        "",
        r"difference: to a\_b  ",
    ]


def test_latex_has_booktabs_rules_and_escapes():
    assert render(SHEET, "latex").splitlines() == [
        r"% needs \usepackage{booktabs}",
        "% 2 examples",
        "% difference: to a_b",
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"metric & system & value \\",
        r"\midrule",
        r"cider $\uparrow$ & a\_b \& co & \textbf{0.5} \\",
        r" & 50 \% [x] & $-$0.25 \\",
        r"\addlinespace",
        r"trm $\downarrow$ & c & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpt-2", "gpt-2"),
        ("-0.5 … -0.1", r"$-$0.5 \ldots{} $-$0.1"),
        ("1e-05", "1e-05"),
        ("#{}~^\\$", r"\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\$"),
        ("a\nb", "a b"),
    ],
)
def test_latex_of_single_cells(text, expected):
    assert escape_latex(text) == expected


def test_markdown_of_single_cells():
    assert escape_markdown("a|b\n<c>") == r"a\|b &lt;c>"


def test_csv_is_the_texts_or_the_data():
    assert list(csv.reader(io.StringIO(render(SHEET, "csv")))) == [list(SHEET.headers), *map(list, SHEET.rows)]
    data = Sheet(SHEET.headers, SHEET.rows, "llr", data=[["value"], [0.1 + 0.2], [None]])
    assert render(data, "csv") == 'value\n0.30000000000000004\n""\n'


def test_the_terminal_keeps_numbers_whole_at_the_least_width():
    sheet = Sheet(["metric", "system", "value"], [["cider", "a long label of a system", "0.123456"]], "llr")
    console = Console(width=least_width(sheet), file=io.StringIO(), color_system=None)
    console.print(terminal_table(sheet))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "0.123456" in text
    assert "a long" in text
    assert max(map(len, text.splitlines())) <= least_width(sheet)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("=1+1", "'=1+1"), ("+cmd", "'+cmd"), ("-a dog", "'-a dog"), ("@SUM(A1)", "'@SUM(A1)"), ("\tx", "'\tx"),
        ("-0.5", "-0.5"), ("+3e-05", "+3e-05"), ("-1.", "-1."), (-0.5, "-0.5"), ("a=b", "a=b"), ("", '""'), ("-", "'-"),
    ],
)  # fmt: skip
def test_a_cell_of_csv_is_no_formula(cell, text):
    assert to_csv([[cell]]) == f"{text}\n"
