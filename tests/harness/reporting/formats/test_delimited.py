"""Tables as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from harness.reporting.formats.delimited import delimit, to_csv
from harness.reporting.table import Table


def test_csv_is_the_texts_or_the_data(table):
    assert list(csv.reader(io.StringIO(to_csv(table)))) == [list(table.headers), *map(list, table.rows)]
    data = Table(table.headers, table.rows, "llr", data=[["value"], [0.1 + 0.2], [None]])
    assert to_csv(data) == 'value\n0.30000000000000004\n""\n'


def test_csv_quotes_what_needs_it():
    rows = [["a", 'say "x", y'], [1, "two\nlines"]]
    assert list(csv.reader(io.StringIO(delimit(rows)))) == [["a", 'say "x", y'], ["1", "two\nlines"]]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("=1+1", "'=1+1"), ("+cmd", "'+cmd"), ("-a dog", "'-a dog"), ("@SUM(A1)", "'@SUM(A1)"), ("\tx", "'\tx"),
        ("-0.5", "-0.5"), ("+3e-05", "+3e-05"), ("-1.", "-1."), (-0.5, "-0.5"), ("a=b", "a=b"), ("", '""'), ("-", "'-"),
    ],
)  # fmt: skip
def test_a_cell_of_csv_is_no_formula(cell, text):
    assert delimit([[cell]]) == f"{text}\n"
