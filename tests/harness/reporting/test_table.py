"""Numbers as texts, and the table that all formats show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.table import Table, TableCell, longest_mark, number, shown_names, size_text
from harness.rundir.records import ResultRecord


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        ("text", "text"),
        (0, "0.0000"),
        (0.12345, "0.1235"),
        (9.99999, "10.0000"),
        (12.345, "12.35"),
        (0.00012345, "0.000123"),
        (-0.0005, "-0.0005"),
        (1234567.0, "1.23e+06"),
        (3, "3.0000"),
    ],
)
def test_digits(value, expected):
    assert number(value) == expected


@given(st.floats(-1e300, 1e300))
def test_the_text_is_near_the_number(value):
    assert float(number(value)) == pytest.approx(value, rel=0.05, abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (None, ""),
        ({"candidates": [12], "references": [4]}, "12 + 4"),
        ({"candidates": [1, 2, 3], "references": [5]}, "1-3 + 5"),
        ({"candidates": [1, 3], "references": [5]}, "1-3 + 5"),
        ({"references": [5]}, "5"),
    ],
)
def test_sizes(sizes, expected):
    assert size_text(sizes) == expected


def test_cells_have_their_looks():
    table = Table(["a", "b"], [["x", "1"], ["y", "2"]], "lr", bold=frozenset({(1, 1)}), marks={(0, 1): "ab"})
    assert list(table.cells()) == [
        [TableCell("x", False, ""), TableCell("1", False, "ab")],
        [TableCell("y", False, ""), TableCell("2", True, "")],
    ]


def test_the_longest_mark_is_of_its_column_alone():
    table = Table(["a", "b", "c"], [["x", "1", "2"]] * 2, "lrr", marks={(0, 0): "abc", (0, 1): "a", (1, 1): "ab"})
    assert [longest_mark(table, column) for column in range(3)] == ["abc", "ab", ""]


def test_labels_that_would_share_a_name_keep_their_labels():
    records = [ResultRecord(model="a", metric=metric) for metric in ("cider", "ciderd", "rouge")]
    assert shown_names(records) == {"cider": "CIDEr-D (cider)", "ciderd": "CIDEr-D (ciderd)", "rouge": "ROUGE-L"}
