"""Tables for LaTeX, as text and compiled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import pairwise

import pytest

from harness.reporting.formats.latex import escape_latex, to_latex
from harness.reporting.table import Table

PREAMBLE = (
    r"\documentclass[landscape]{article}\usepackage{booktabs,siunitx}\pagestyle{empty}\begin{document}\n"
    r"oindent "
)


def test_numbers_have_columns_of_siunitx_and_texts_are_escaped(table):
    assert to_latex(table).splitlines() == [
        r"% needs \usepackage{booktabs,siunitx}",
        "% 2 examples",
        "% difference: to a_b",
        r"{\sisetup{mode=text, reset-text-series=false, retain-explicit-plus, "
        r"table-align-text-after=false, table-align-exponent=false}%",
        r"\begin{tabular}{l l S[table-format=-1.2{\textsuperscript{\mdseries a}}]}",
        r"\toprule",
        r"{metric} & {system} & {value} \\",
        r"\midrule",
        r"cider $\uparrow$ & a\_b \& co & \bfseries 0.5 {\textsuperscript{\mdseries "
        r"a}} \\",
        r" & 50 \% [x] & -0.25 \\",
        r"\addlinespace",
        r"trm $\downarrow$ & c & {--} \\",
        r"\bottomrule",
        r"\end{tabular}}",
    ]


def test_a_table_without_numbers_needs_no_siunitx():
    text = to_latex(
        Table(["a", "b\nc"], [["x", "1 to 2"]], "lr", bold=frozenset({(0, 1)}))
    )
    assert text.startswith("% needs \\usepackage{booktabs}\n\\begin{tabular}{l r}")
    assert (
        r"{a} & {\shortstack{b \\ c}} \\" in text and r"x & \textbf{1 to 2} \\" in text
    )


def test_powers_stars_and_bounds_stay_in_the_column_of_numbers():
    text = to_latex(
        Table(["p"], [["0.0412*"], ["1.23e-19*"], ["< 1e-300"], [""], ["-12.5"]], "r")
    )
    assert r"{S[table-format=-2.4e-2{*}]}" in text
    for cell in ("0.0412 {*}", "1.23e-19 {*}", r"{\textless{} 1e-300}", "-12.5"):
        assert f"\n{cell} \\\\" in text
    assert "\n{} \\\\" in text


def test_marks_and_bold_cells_of_text_columns_and_notes_of_several_lines():
    bold = frozenset({(0, 0), (1, 0), (1, 1), (2, 1)})
    table = Table(
        ["a", "b"],
        [["x_", "1e+05"], ["", "–"], ["y", "+2"]],
        "lr",
        "a\n title",
        ["", "one\n\nnote"],
        bold,
        frozenset({0, 1, 2}),
        {(0, 0): "a%", (1, 1): "bc", (2, 1): "d"},
    )
    assert to_latex(table).splitlines()[:3] == [
        r"% needs \usepackage{booktabs,siunitx}",
        "% a title",
        "% one note",
    ]
    assert to_latex(table).splitlines()[4:] == [
        r"\begin{tabular}{l S[table-format=+1.0e-2{\textsuperscript{\mdseries bc}}]}",
        r"\toprule",
        r"{a} & {b} \\",
        r"\midrule",
        r"\textbf{x\_}\textsuperscript{\mdseries a\%} & 1e05 \\",
        r"\addlinespace",
        r" & {\textbf{--}\textsuperscript{\mdseries bc}} \\",
        r"\addlinespace",
        r"y & \bfseries +2 {\textsuperscript{\mdseries d}} \\",
        r"\bottomrule",
        r"\end{tabular}}",
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


@pytest.mark.slow
def test_compiled_letters_lie_between_their_number_and_the_next_column(
    tmp_path, lettered, artefacts
):
    """LaTeX itself sets the table; the places of the letters are read from the PDF."""
    for program in ("pdflatex", "pdftotext"):
        if shutil.which(program) is None:
            missing = (
                f"no {program} on PATH (Debian: texlive-latex-recommended "
                "texlive-science poppler-utils)"
            )
            pytest.fail(missing) if os.environ.get(
                "HARNESS_LATEX_REQUIRED"
            ) else pytest.skip(missing)
    (tmp_path / "a.tex").write_text(
        PREAMBLE + to_latex(lettered) + r"\end{document}", encoding="utf-8"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-2000:]
    assert (
        "Warning" not in (log := (tmp_path / "a.log").read_text(errors="replace"))
        and "Overfull" not in log
    )
    shutil.copy(tmp_path / "a.pdf", artefacts / "table.pdf")
    boxes = subprocess.run(
        ["pdftotext", "-bbox", "a.pdf", "-"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = [
        (float(x), float(end), float(y), text)
        for x, y, end, text in re.findall(
            r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" '
            r'yMax="[\d.]+">(.*?)</word>',
            boxes,
        )
    ]
    printed = " ".join(text for *_, text in words)
    for name in ("BLEU-4", "CIDEr-D", "TRM", "(METEOR)"):
        assert name in printed
    for row in lettered.rows:
        line = next(y for *_, y, text in words if text == row[0])
        here = sorted(word for word in words if abs(word[2] - line) < 4)
        assert len(here) >= sum(map(bool, row))
        for (_, end, _, left), (start, *_, right) in pairwise(here):
            assert start >= end - 0.5, f"{left} and {right} overlap"
