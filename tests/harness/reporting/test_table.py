"""Numbers as texts, and the table that all formats show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.table import (
    Bar,
    Table,
    TableCell,
    heading,
    longest,
    longest_mark,
    number,
    number_columns,
    p_text,
    record_heading,
    shown_names,
    shown_quantity,
    signed_text,
    size_text,
)
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
    table = Table(
        ["a", "b"],
        [["x", "1"], ["y", "2"]],
        "lr",
        bold=frozenset({(1, 1)}),
        marks={(0, 1): "ab"},
    )
    assert list(table.cells()) == [
        [TableCell("x", False, ""), TableCell("1", False, "ab")],
        [TableCell("y", False, ""), TableCell("2", True, "")],
    ]


def test_the_longest_mark_is_of_its_column_alone():
    table = Table(
        ["a", "b", "c"],
        [["x", "1", "2"]] * 2,
        "lrr",
        marks={(0, 0): "abc", (0, 1): "a", (1, 1): "ab"},
    )
    assert [longest_mark(table, column) for column in range(3)] == ["abc", "ab", ""]


def test_the_longest_mark_is_not_that_of_a_later_column():
    table = Table(
        ["a", "b", "c"], [["x", "1", "2"]], "lrr", marks={(0, 1): "a", (0, 2): "abc"}
    )
    assert [longest_mark(table, column) for column in range(3)] == ["", "a", "abc"]


def test_headings_have_the_direction_of_the_metric():
    assert [heading("x", direction) for direction in (True, False, None)] == [
        "x ↑",
        "x ↓",
        "x",
    ]
    assert (
        record_heading(ResultRecord(model="a", metric="cider", higher_is_better=True))
        == "CIDEr-D ↑"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (0.012, "0.0120"),
        (1e-300, "1e-300"),
        (9.9e-301, "< 1e-300"),
        (0.0, "< 1e-300"),
        (math.nan, "–"),
    ],
)
def test_p_values_end_where_floats_end(value, expected):
    assert p_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, "+0.5000"),
        (1.0, "+1.0000"),
        (2, "+2.0000"),
        (0.0, "0.0000"),
        (-0.5, "-0.5000"),
        ("x", "x"),
        (None, "–"),
    ],
)
def test_differences_have_a_sign(value, expected):
    assert signed_text(value) == expected


def test_a_part_of_a_table_keeps_the_looks_of_its_columns():
    table = Table(
        ["a", "b", "c"],
        [["x", "1", "2"], ["y", "3", "4"]],
        "lrr",
        "title",
        ["note"],
        bold=frozenset({(0, 1), (1, 2)}),
        marks={(0, 1): "ab", (1, 2): "c"},
        bars={(0, 1): Bar(0.0, 1.0, 0.5)},
        data=[["all"]],
        groups=frozenset({1}),
        secondary=("b",),
    )
    assert [cell.bar for row in table.cells() for cell in row] == [
        None,
        Bar(0.0, 1.0, 0.5),
        None,
        None,
        None,
        None,
    ]
    assert table.select([0, 2]) == Table(
        ["a", "c"],
        [["x", "2"], ["y", "4"]],
        "lr",
        "title",
        ["note"],
        bold=frozenset({(1, 1)}),
        marks={(1, 1): "c"},
        groups=frozenset({1}),
        secondary=("b",),
    )


def test_columns_of_numbers_are_right_aligned_and_may_have_dashes_words_and_bounds():
    columns = {
        "left": ["1", "2", "3", "4"],
        "numbers": ["1.25", "–", "-10.5*", "not tested"],
        "bounds": ["0.5", "< 0.001", "", "1e-05"],
        "ranges": ["1 to 2", "3", "4", "5"],
        "words": ["a", "b", "", "–"],
        "zigzag": ["1", "2", "3", "x 4"],
    }
    table = Table(
        list(columns), [list(row) for row in zip(*columns.values())], "lrrrrr"
    )
    numbers = number_columns(table)
    assert list(numbers) == [1, 2]
    assert [bool(match) for match in numbers[1]] == [True, False, True, False]
    groups = ("sign", "whole", "decimals", "power", "star")
    assert [
        [longest(numbers[column], group) for group in groups] for column in (1, 2)
    ] == [[1, 2, 2, 0, 1], [0, 1, 1, 3, 0]]


def test_a_quantity_has_the_name_of_its_metric():
    names = {"cider": "CIDEr-D", "a:b": "A:B"}
    texts = [
        shown_quantity(text, names)
        for text in ("cider", "log p:cider", "a:b", "p:x", "*")
    ]
    assert texts == ["CIDEr-D", "log p:CIDEr-D", "A:B", "p:x", "*"]


def test_labels_that_would_share_a_name_keep_their_labels():
    records = [
        ResultRecord(model="a", metric=metric)
        for metric in ("cider", "ciderd", "rouge")
    ]
    assert shown_names(records) == {
        "cider": "CIDEr-D (cider)",
        "ciderd": "CIDEr-D (ciderd)",
        "rouge": "ROUGE-L (COCO)",
    }
