"""The table of results in the terminal."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

import harness
from harness.reporting.console import (
    MAX_FAILURES,
    SIZE_NOTE,
    console_for_tables,
    divided_metrics,
    grouped,
    p_notes,
    print_sheet,
    print_table,
    sort_key,
)
from harness.reporting.tables import Sheet
from harness.rundir.records import ResultRecord


def record(metric="m", value=0.5, higher_is_better: bool | None = True, model="a", **values):
    return ResultRecord(metric=metric, value=value, higher_is_better=higher_is_better, model=model, **values)


def test_the_best_value_is_first_and_undefined_values_are_last():
    values = [math.nan, 1.0, 3.0, 2.0]
    (group,) = grouped([record(value=value) for value in values])
    assert [item.value for item in group][:3] == [3.0, 2.0, 1.0]
    (group,) = grouped([record(value=value, higher_is_better=False) for value in values])
    assert [item.value for item in group][:3] == [1.0, 2.0, 3.0]
    assert sort_key(record(value=math.nan)) == math.inf


def test_metrics_keep_their_order_and_without_a_direction_so_do_records():
    groups = grouped([record("b", 1), record("a", 1), record("b", 2), record("c", 2, None), record("c", 3, None)])
    assert [(group[0].metric, [item.value for item in group]) for group in groups] == [
        ("b", [2, 1]), ("a", [1]), ("c", [2, 3]),
    ]  # fmt: skip


def sized(value, n, level="set", **values):
    return record(value=value, level=level, sizes={"candidates": [n], "references": [5]}, **values)


def test_set_metrics_are_divided_by_set_size():
    records = [sized(0.1, 5), sized(0.2, 1), sized(0.3, 5), sized(0.9, 1, model="b")]
    groups = grouped(records)
    assert [[item.value for item in group] for group in groups] == [[0.3, 0.1], [0.9, 0.2]]
    assert divided_metrics(groups) == ["m"]
    items = grouped([sized(0.1, 5, "item"), sized(0.2, 1, "item")])
    assert [[item.value for item in group] for group in items] == [[0.2, 0.1]]
    assert divided_metrics(items) == []


def test_groups_of_one_metric_follow_each_other():
    records = [sized(1, 5), sized(2, 5, metric="k"), sized(3, 1), sized(4, 1, metric="k")]
    assert [group[0].metric for group in grouped(records)] == ["m", "m", "k", "k"]


def test_the_table_says_why_sizes_are_apart_and_why_p_values_are_missing(run, capsys):
    first = run.records[0]
    few = {"candidates": [1], "references": [2]}
    records = (
        replace(first, level="set"),
        replace(first, level="set", model="few", sizes=few, value=99.0),
        replace(first, metric="x[b]", p_value=None, p_note="reads a scene"),
        replace(first, metric="y", p_value=None, p_note="reads a scene"),
        replace(first, metric="z", p_value=None, p_note="has no direction"),
    )
    text = output(replace(run, records=records), capsys)
    assert text.index("1 + 2") > text.index("2 + 2"), "the larger value of another size is no better"
    assert f"length: {SIZE_NOTE}" in text
    assert text.count("– [1]") == 2
    assert text.count("– [2]") == 1
    assert "[1] no p-value for x[b], y, which reads a scene" in text
    assert "[2] no p-value for z, which has no direction" in text
    assert p_notes(records) == {"reads a scene": ["x[b]", "y"], "has no direction": ["z"]}


def test_the_column_p_appears_where_only_reasons_exist(run, capsys):
    records = (replace(run.records[0], p_value=None, p_note="reads a scene"),)
    assert "– [1]" in output(replace(run, records=records), capsys)
    assert "no p-value" not in output(replace(run, records=(replace(run.records[0], p_value=None),)), capsys)


def test_the_console_has_a_fixed_width_without_a_terminal():
    assert console_for_tables(70).width == 70


@pytest.fixture
def run(project):
    return harness.evaluate("spec.yaml", significance="exact", output="r")


def output(run, capsys) -> str:
    print_table(run)
    return capsys.readouterr().out


def test_the_table_has_values_intervals_and_the_directory(run, capsys):
    text = output(run, capsys)
    assert "length ↑" in text
    assert "95 % interval" in text
    assert re.search(r"4\.5000 [ │]+–", text), "equal scores have no interval"
    assert "no 95 % interval: length (every resample of the examples gives the same number)" in text
    assert "2 + 2" in text
    assert "run: r  (harness report r makes a page of it)" in text
    assert "decoding" not in text, "columns without content are left out"


def test_a_run_with_p_values_has_the_calibrated_one_and_the_harmonic_mean(run, capsys):
    record = replace(run.records[0], p_value=1e-305, p={"harmonic_mean": 0.0625})
    text = output(replace(run, records=(record,)), capsys)
    assert re.search(r"p ┃ harmonic p ┃", text)
    assert re.search(r"< 1e-300 │ +0.0625", text)
    untested = output(replace(run, records=(replace(record, p_value=None, p=None),)), capsys)
    assert "harmonic p" not in untested


def test_markup_in_names_is_printed_as_it_is(run, capsys):
    records = tuple(replace(item, model="[red]x", metric="[m]") for item in run.records)
    text = output(replace(run, records=records), capsys)
    assert "[red]x" in text
    assert "[m] ↑" in text


def test_several_decodings_have_a_column(run, capsys):
    records = (run.records[0], replace(run.records[0], decoding={"temperature": 0.5}))
    text = output(replace(run, records=records), capsys)
    assert "decoding" in text
    assert "T=0.5" in text


def test_failures_are_cut_and_notes_follow(run, capsys):
    failed = {f"echo/e{i}": f"reason {i}" for i in range(MAX_FAILURES + 3)}
    text = output(replace(run, failed=failed, notes=["a note on sizes"]), capsys)
    assert text.count("failed echo/") == MAX_FAILURES
    assert "... and 3 more failed" in text
    assert "note a note on sizes" in text


def test_table_views_are_printed_with_published_values(project, capsys):
    view = {"plot": "table", "x": "metric", "y": "length", "by": "model", "title": "Lengths", "note": "words"}
    views = [{**view, "reference": {"length": 9.5}}]
    text = output(harness.evaluate("spec.yaml", views=views), capsys)
    assert "Lengths" in text
    assert "published" in text
    assert "9.5000" in text
    assert "words" in text.splitlines()[-1]


def test_a_wide_view_is_printed_with_its_heads_as_rows(project, capsys):
    models = [{"echo": {"n": 1, "label": f"model-with-a-long-name-{i}"}} for i in range(6)]
    text = output(
        harness.evaluate("spec.yaml", models=models, views=[{"plot": "table", "x": "model", "title": "T"}]), capsys
    )
    assert len(re.findall(r"^ model-with-a-long-name-\d │ 4", text, flags=re.M)) == 6


def test_a_sheet_keeps_its_numbers_in_a_narrow_terminal_and_other_formats_are_plain(capsys, monkeypatch):
    sheet = Sheet(["metric", "value"], [["cider [x]", "0.12345678"]], "lr", title="2 examples", notes=["a note"])
    monkeypatch.setattr("harness.reporting.console.console_for_tables", lambda: console_for_tables(12))
    print_sheet(sheet)
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "2 examples"
    assert "cider [x]" in out
    assert "0.12345678" in out
    assert out.splitlines()[-1] == "a note"
    print_sheet(sheet, "csv")
    assert capsys.readouterr().out == "metric,value\ncider [x],0.12345678\n"
