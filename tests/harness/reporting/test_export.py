"""Views as CSV and Markdown files."""

from __future__ import annotations

import csv
import io
import math

import pytest

import harness
from harness.reporting.captions import Texts, TextsRow, TextsTable
from harness.reporting.export import numbers_rows, texts_cells, texts_rows, to_csv, to_markdown, write_tables
from harness.reporting.views import ViewTable

NUMBERS = ViewTable("model", ("a", "b"), (("cider", (0.123456, math.nan)), ("bleu", (None, 12345.678))), (0.5, None))
TEXTS = TextsTable(
    "cider", ("one", "two"), (TextsRow("e1", Texts.of(["r", "r"]), (Texts.of(["x", "y", "x"], 0.5), None)),), 7
)


def test_numbers_in_full_and_rounded():
    assert numbers_rows(NUMBERS) == [
        ["model", "a", "b"], ["cider", 0.123456, ""], ["bleu", "", 12345.678], ["published", 0.5, ""],
    ]  # fmt: skip
    assert numbers_rows(NUMBERS, rounded=True)[1:] == [
        ["cider", "0.1235", ""], ["bleu", "", "12345.68"], ["published", "0.5000", ""],
    ]  # fmt: skip


def test_texts_have_a_row_per_distinct_text():
    assert texts_rows(TEXTS) == [
        ["example", "source", "cider", "times", "text"],
        ["e1", "references", "", 2, "r"],
        ["e1", "one", 0.5, 2, "x"],
        ["e1", "one", 0.5, 1, "y"],
    ]


def test_texts_have_a_cell_per_set():
    assert texts_cells(TEXTS) == [
        ["example", "references", "one", "two"], ["e1", ["r (x 2)"], ["cider 0.5000", "x (x 2)", "y"], []],
    ]  # fmt: skip


def test_csv_quotes_what_needs_it():
    rows = [["a", 'say "x", y'], [1, "two\nlines"]]
    assert list(csv.reader(io.StringIO(to_csv(rows)))) == [["a", 'say "x", y'], ["1", "two\nlines"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("*x* _y_", r"\*x\* \_y\_"),
        ("<b>&", "&lt;b>&amp;"),
        ("two\n lines", "two lines"),
        ("`~#[]`", r"\`\~\#\[\]\`"),
    ],
)
def test_markup_in_markdown_is_escaped(text, expected):
    assert to_markdown("T", [["h"], [text]]).splitlines()[-1] == f"| {expected} |"


def test_markdown_is_a_title_and_a_table():
    assert to_markdown("A # title", [["a", "b"], [["x", "y"], 1]]) == (
        "# A \\# title\n\n| a | b |\n| --- | --- |\n| x<br>y | 1 |\n"
    )


def test_every_table_view_of_a_run_is_two_files(project):
    views = [
        {"plot": "table", "title": "All results: 1"},
        {"plot": "line", "y": "length"},
        {"plot": "texts", "y": "length", "examples": 2},
    ]
    harness.evaluate("spec.yaml", views=views, output="r")
    files = write_tables(["r"], project / "tables")
    assert [file.name for file in files] == [
        "results.csv",
        "results.md",
        "results.tex",
        "01-all-results-1.csv",
        "01-all-results-1.md",
        "01-all-results-1.tex",
        "03-length.csv",
        "03-length.md",
    ]
    rows = list(csv.reader(files[3].open()))
    assert rows[1][0] == "length" or "length" in rows[0]
    texts = list(csv.reader(files[6].open()))
    assert len({row[0] for row in texts[1:]}) == 2
    (project / "again").mkdir()
    harness.evaluate("spec.yaml", views=views, output="s")
    names = [file.name for file in write_tables(["r", "s"], project / "again")]
    assert names == [f"{run}-words-{file.name}" for run in (1, 2) for file in files], (
        "runs of one task do not overwrite each other"
    )
