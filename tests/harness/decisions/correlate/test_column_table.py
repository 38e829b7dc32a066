"""Tables from files and from run directories."""

import gzip
import json

import numpy as np
import pytest

from harness.decisions.correlate.column_table import from_records, read_table
from harness.errors import InputError, UnknownName


def test_a_tsv_has_numbers_and_labels(tmp_path):
    path = tmp_path / "t.tsv.gz"
    with gzip.open(path, "wt") as file:
        file.write("dataset\ta\tb\nx\t1\tinf\ny\t\t2e-3\n")
    table = read_table(path)
    assert table.labels == {"dataset": ("x", "y")}
    np.testing.assert_array_equal(table.numbers["a"], [1, np.nan])
    np.testing.assert_array_equal(table.numbers["b"], [np.inf, 0.002])
    assert (len(table), table.groups("dataset"), table.groups("b")) == (
        2,
        ["x", "y"],
        ["inf", "0.002"],
    )
    with pytest.raises(
        UnknownName, match="has no column 'datset'; did you mean 'dataset'"
    ):
        table.groups("datset")


def test_a_csv_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('name,a\n"x, y",1\n')
    assert read_table(path).labels["name"] == ("x, y",)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is empty"),
        ("a\tb\n1\n", "t.tsv:2: 1 cells; expected 2, as in the header"),
        ("a\ta\n", "t.tsv:1: the column 'a' occurs twice"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    path = tmp_path / "t.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(path)


def test_records_lack_columns():
    table = from_records("here", [{"a": 1}, {"b": "x", "a": 0.1}])
    assert (table.numbers["a"].tolist(), table.labels["b"]) == ([1.0, 0.1], ("", "x"))


@pytest.mark.parametrize(
    "cells",
    [["1234567", "1234568"], ["0.1234567", "0.1234568"], ["1e-9", "2e-9"], ["-3", "3"]],
)
def test_groups_of_numbers_keep_all_digits(cells):
    table = from_records("here", [{"item": float(cell)} for cell in cells])
    labels = table.groups("item")
    assert [float(label) for label in labels] == [float(cell) for cell in cells]
    assert len(set(labels)) == 2


def test_integers_beyond_the_precision_of_a_number_stay_different_groups(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("item\ta\n1234567890123456789\t1\n1234567890123456788\t2\n")
    table = read_table(path)
    assert table.groups("item") == ["1234567890123456789", "1234567890123456788"]
    assert table.numbers["item"][0] == table.numbers["item"][1], (
        "as numbers they are equal"
    )
    path.write_text("item\ta\n9007199254740992\t1\n1e300\tinf\n")
    assert read_table(path).labels == {}, "exact integers need no label"


def test_groups_by_item_on_the_command_line(tmp_path, capsys):
    from harness.cli.main import main

    rows = [
        (1234567890123456000 + item, x, x * item) for item in (1, 2) for x in (1, 2, 3)
    ]
    path = tmp_path / "t.tsv"
    path.write_text(
        "item\ta\tb\n" + "".join(f"{item}\t{a}\t{b}\n" for item, a, b in rows)
    )
    assert (
        main(["correlate", str(path), "--x", "a", "--y", "b", "--by", "item", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["groups"] == [
        "1234567890123456001",
        "1234567890123456002",
        "all",
    ]
