"""Columns of the table of scores: cells, when a column is shown, remarks."""

from __future__ import annotations

import pytest

from harness.reporting.score_columns import (
    COLUMNS,
    PrintedRow,
    PrintedRows,
    Result,
    has_shown_p,
    list_remarks,
)
from harness.rundir.records import ResultRecord
from tests.support.comparisons import make_comparison


def result(row=None, **fields) -> Result:
    record = ResultRecord(
        **{"model": "a", "metric": "m", "value": 0.5, "n": 4, "skipped": 0} | fields
    )
    return Result(record, record if row is not None else None, row)


@pytest.mark.parametrize(
    ("adjusted", "headers"), [(True, ["p", "p (Holm)"]), (False, ["p"])]
)
def test_one_of_the_columns_of_p_is_shown_for_one_comparison(adjusted, headers):
    row = make_comparison(p_value=0.03, p_holm=0.06, n=4)
    lines = PrintedRows([PrintedRow(result(row), [])], "b", 10, False, adjusted)
    shown = [
        column
        for column in COLUMNS
        if column.header.startswith("p") and column.header != "permutation p"
    ]
    shown = [column for column in shown if column.shown(lines)]
    assert [column.header for column in shown] == headers
    assert shown[-1].text(lines.lines[0]).startswith("0.06")


def test_a_p_value_of_one_example_is_not_shown():
    assert has_shown_p(result(make_comparison(p_value=0.03, n=4)))
    assert not has_shown_p(result(make_comparison(p_value=0.03, n=1)))
    assert not has_shown_p(result())


def test_remarks_name_what_is_left_out():
    assert list_remarks(result(skipped=2)) == ["2 of 6 without a score"]
    assert list_remarks(result(make_comparison(n=3))) == [
        "difference on 3 common examples"
    ]
