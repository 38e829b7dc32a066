"""Tables as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from harness.reporting.formats.delimited import delimit, to_csv
from harness.reporting.table import Table


def test_csv_is_the_texts_or_the_data(table):
    assert list(csv.reader(io.StringIO(to_csv(table)))) == [
        list(table.headers),
        *map(list, table.rows),
    ]
    data = Table(
        table.headers, table.rows, "llr", data=[["value"], [0.1 + 0.2], [None]]
    )
    assert to_csv(data) == 'value\n0.30000000000000004\n""\n'


def test_csv_quotes_what_needs_it():
    rows = [["a", 'say "x", y'], [1, "two\nlines"]]
    assert list(csv.reader(io.StringIO(delimit(rows)))) == [
        ["a", 'say "x", y'],
        ["1", "two\nlines"],
    ]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-a dog", "'-a dog"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("-0.5", "-0.5"),
        ("+3e-05", "+3e-05"),
        ("-1.", "-1."),
        (-0.5, "-0.5"),
        ("a=b", "a=b"),
        ("", '""'),
        ("-", "'-"),
    ],
)
def test_a_cell_of_csv_is_no_formula(cell, text):
    assert delimit([[cell]]) == f"{text}\n"


@pytest.mark.parametrize("cell", ["\r=1+1", "\rx", "\r\n@SUM(A1)", "\t=1", "=a\rb"])
def test_a_formula_behind_a_blank_is_a_text_when_it_is_read_again(cell):
    text = delimit([["first", cell]])
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["first", f"'{cell}"]]


@pytest.mark.parametrize("cell", ["a\r=1+1", "a dog\r\n@SUM(A1)", "a\r", "a\n\r-x"])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_line_end_within_a_cell_ends_no_row(cell, delimiter):
    """The next row could begin with a formula."""
    text = delimit([[cell, "b"], ["c", cell]], delimiter)
    assert text.endswith("\n") and not text.endswith("\r\n")
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == [
        [cell, "b"],
        ["c", cell],
    ]
