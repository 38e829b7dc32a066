"""A correlation study as records and tables: order, undefined coefficients, groups."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.decisions.correlate.study import Study
from harness.reporting.table import Table
from harness.stats.correlation import CorrelationTable

NAN = float("nan")
X = ("down", "flat", "up", "weak", "y")


def coefficients(r, n=9, kendall=None):
    """Return a table of five x columns and one y column with these coefficients."""
    column = np.array(r)[:, None]
    other = column if kendall is None else np.array(kendall)[:, None]
    return CorrelationTable(n, column, column * 0 + 0.01, column / 2, other)


def make_study(**fields):
    tables = {
        "a": coefficients([0.1, NAN, 0.2, 0.3, 1.0], 4),
        "all": coefficients([-0.9, NAN, 0.9, 0.2, 1.0], 9, [0.1, NAN, 0.2, 0.8, 1.0]),
    }
    return Study(**{"source": "t.csv", "x": X, "y": ("y",), "tables": tables, **fields})


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("r2", ["down", "up", "weak"]),  # a tie keeps the order of columns
        ("r", ["down", "up", "weak"]),  # by size
        ("kendall", ["weak", "up", "down"]),
        ("name", ["down", "up", "weak"]),
    ],
)
def test_columns_are_ordered_without_undefined_ones_and_itself(sort, names):
    study = make_study(sort=sort)
    assert study.best("y") == names
    assert study.best("y", 2) == names[:2]
    assert study.best("y", 0) == []
    assert study.best("y", group="a")[0] == {"name": "down"}.get(sort, "weak")


def test_a_record_has_no_nan():
    record = make_study().record("flat", "y")
    assert record == {
        "x": "flat",
        "y": "y",
        "group": "all",
        "n": 9,
        **dict.fromkeys(("r", "r2", "p", "spearman", "kendall")),
    }
    record = make_study().record("up", "y", "a")
    assert (record["n"], record["r"], record["r2"]) == (4, 0.2, pytest.approx(0.04))


def test_records_are_those_of_the_best_columns_in_every_group():
    study = make_study(by="set", left_out=2, dropped={"z": "constant"})
    assert study.groups == ("a", "all")
    rows = study.records(1)
    assert [(row["x"], row["group"]) for row in rows] == [
        ("down", "a"),
        ("down", "all"),
    ]
    assert len(study.correlations) == 6 and study.to_arrow().num_rows == 6
    values = study.to_dict(top=1)
    assert values["correlations"] == rows
    assert json.loads(json.dumps(values))["dropped"] == {"z": "constant"}
    assert values["left_out"] == 2 and values["by"] == "set"


def test_blocks_name_what_is_left_out_and_the_baseline():
    dropped = {"p": "constant", "q": "inf in a", "s": "constant"}
    study = make_study(left_out=1, dropped=dropped)
    lines = list(study.blocks(top=1, baseline="weak"))
    assert lines[0] == "t.csv: 5 columns against 1; rows: a 4, all 9"
    assert lines[1] == "1 row left out: a selected column is missing there"
    assert lines[2] == "3 columns dropped: 2 constant, 1 inf in a"
    table = lines[4]
    assert isinstance(table, Table)
    assert table.headers == ["y", "R²", "r", "p", "Spearman", "Kendall", "R² a"]
    assert [row[0] for row in table.rows] == ["down", "weak"]
    assert table.rows[0][1:3] == ["0.8100", "-0.9000"]
    assert table.rows[0][-1] == "0.0100"


def test_a_group_without_a_coefficient_has_a_dash_and_a_zero_no_sign():
    tables = {
        "a": coefficients([NAN] * 5, 4),
        "all": coefficients([-0.00001, NAN, NAN, NAN, NAN]),
    }
    (_, _, table) = make_study(tables=tables).blocks()
    assert table.rows == [
        ["down", "0.0000", "0.0000", "0.0100", "0.0000", "0.0000", "–"]
    ]


def test_no_defined_correlation_is_said():
    lines = list(make_study(tables={"all": coefficients([NAN] * 5)}).blocks())
    assert lines[-1] == "no column has a defined correlation"
    assert lines[0] == "t.csv: 5 columns against 1; rows: all 9"
