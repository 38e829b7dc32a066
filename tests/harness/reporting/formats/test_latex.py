"""Tables for LaTeX."""

from __future__ import annotations

import pytest

from harness.reporting.formats.latex import escape_latex, to_latex


def test_latex_has_booktabs_rules_and_escapes(table):
    assert to_latex(table).splitlines() == [
        r"% needs \usepackage{booktabs}",
        "% 2 examples",
        "% difference: to a_b",
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"metric & system & value \\",
        r"\midrule",
        r"cider $\uparrow$ & a\_b \& co & \textbf{0.5}\rlap{\textsuperscript{a}} \\",
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
