"""Lines over fields of the decoding."""

from __future__ import annotations

from harness.reporting.charts.style import PAGE
from harness.reporting.charts.sweeps import build_lines, sweep_rows
from harness.rundir.records import ResultRecord


def record(model, metric, value, **decoding):
    return ResultRecord(model=model, metric=metric, value=value, decoding=decoding, ci95=(value - 0.1, value + 0.1), higher_is_better=True)


RECORDS = [
    record(model, metric, value * t, strategy=strategy, temperature=t)
    for model, strategy in (("a", "nucleus"), ("a", "sample"), ("b", "nucleus"))
    for metric, value in (("cider", 1.0), ("bleu", 2.0))
    for t in (0.5, 0.7)
]  # fmt: skip


def test_other_fields_that_vary_belong_to_the_line():
    rows = sweep_rows(RECORDS, "temperature")
    assert len(rows) == len(RECORDS)
    assert {row["line"] for row in rows} == {"a nucleus", "a sample", "b nucleus"}
    assert {row["x"] for row in rows} == {0.5, 0.7}


def test_a_field_with_one_value_has_no_chart():
    assert sweep_rows(RECORDS, "candidates") == []
    assert sweep_rows(RECORDS[:1], "temperature") == []


def test_a_record_without_the_field_has_its_default():
    rows = sweep_rows([*RECORDS[:2], record("a", "cider", 3.0, strategy="nucleus")], "temperature")
    assert [row["x"] for row in rows] == [0.5, 0.7, 1.0]


def test_every_metric_has_a_panel_with_band_line_and_points():
    spec = build_lines(sweep_rows(RECORDS, "temperature"), "temperature", PAGE)
    assert [panel["title"] for panel in spec["concat"]] == ["CIDEr-D ↑", "BLEU ↑"]
    assert [layer["mark"]["type"] for layer in spec["concat"][0]["layer"]] == ["area", "line", "point"]
