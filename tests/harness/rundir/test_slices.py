"""Slices: values of a column, columns that make none, masks."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.rundir.slices import (
    MOST_SLICES,
    NO_VALUE,
    find_slices,
    slice_masks,
    slice_values,
    value_of,
)


def metas(*values, name="domain"):
    return [{name: value, "split": "val"} for value in values]


def test_a_name_wins_over_a_path():
    assert value_of({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert value_of({"a": {"b": {"c": "deep"}}}, "a.b.c") == "deep"
    assert value_of({"a": {"b": 2}}, "a.c") is None
    assert value_of({"a": "text"}, "a.b") is None


def test_absent_null_and_empty_values_are_one_slice_which_comes_last():
    rows = [
        {"domain": "in"},
        {},
        {"domain": None},
        {"domain": "near"},
        {"domain": ""},
        {"domain": " in  "},
    ]
    values = slice_values(rows, "domain")
    assert values == ["in", NO_VALUE, NO_VALUE, "near", NO_VALUE, "in"]
    masks = slice_masks("domain", values)
    assert list(masks) == ["domain=in", "domain=near", f"domain={NO_VALUE}"]
    assert sum(masks.values()).tolist() == [1] * 6
    assert masks[f"domain={NO_VALUE}"].tolist() == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]


def test_numbers_and_flags_are_values():
    assert slice_values(metas(1, 2, 1), "domain") == ["1", "2", "1"]
    assert slice_values(metas(True, False, True), "domain") == ["True", "False", "True"]


@pytest.mark.parametrize(
    ("rows", "column", "message"),
    [
        (
            metas("a", "a"),
            "domian",
            "slices: no example has 'domian' in its metadata; "
            "did you mean 'domain'?; it has domain, split",
        ),
        ([{}, {}], "domain", "no example has 'domain' in its metadata; it has none"),
        (metas(None, ""), "domain", "'domain' has a value for no example"),
        (
            metas("a", "b", "c"),
            "domain",
            "'domain' has another value for each of 3 examples; "
            "expected a column whose values several",
        ),
        (
            metas(["a"], ["a"]),
            "domain",
            "'domain' holds list ['a']; expected a text, a number or a flag",
        ),
        (
            metas("x" * 81, "x" * 81),
            "domain",
            "'domain' holds a text of 81 characters; expected at most 80",
        ),
        (
            metas(*range(101), 0),
            "domain",
            f"'domain' has 101 values; expected at most {MOST_SLICES} slices",
        ),
    ],
)
def test_columns_that_make_no_slices(rows, column, message):
    with pytest.raises(InputError) as caught:
        slice_values(rows, column)
    assert message in str(caught.value)


def test_the_first_examples_of_more_may_all_differ():
    assert slice_values(metas("in", "near"), "domain", limited=True) == ["in", "near"]


def test_columns_follow_each_other_and_a_column_counts_once():
    rows = [{"a": "x", "b": 1}, {"a": "y", "b": 1}, {"a": "x", "b": 2}]
    assert [part.name for part in find_slices(lambda: rows, ["b", "a", "b"])] == [
        "b=1",
        "b=2",
        "a=x",
        "a=y",
    ]
