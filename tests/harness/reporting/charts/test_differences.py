"""The forest plot."""

from __future__ import annotations

import pytest

import harness
from harness.reporting.charts import differences as module
from harness.reporting.charts.comparisons import Compared
from harness.reporting.charts.differences import differences
from harness.reporting.charts.style import PAGE
from harness.reporting.metric_labels import shown_name
from harness.run.finished import Run


def test_every_pair_of_few_systems_has_a_row_per_metric(captions_run):
    (chart,) = differences(captions_run)
    rows = chart.spec["datasets"]["differences"]
    assert {row["pair"] for row in rows} == {"people − central", "people − other <b>scene</b>", "central − other <b>scene</b>"}
    assert len(rows) == 3 * 4
    expected = {(row.system_a, row.system_b, shown_name(row)): row for row in harness.compare(captions_run.path)}
    for row in rows:
        other = expected[row["a"], row["b"], row["metric"]]
        assert row["difference"] == other.difference
        word = {"A": "better", "B": "worse"}.get(other.better, "not significant")
        assert row["verdict"] == word
        assert row["low"] is None or row["low"] <= row["high"]


def test_axes_of_metrics_of_which_less_is_better_are_reversed(captions_run):
    (chart,) = differences(captions_run)
    panels = chart.spec["concat"]
    reverse = {panel["title"]: panel["layer"][2]["encoding"]["x"]["scale"]["reverse"] for panel in panels}
    assert reverse == {"BLEU-1 ↑": False, "ROUGE-L ↑": False, "mBLEU-4 ↓": True, "TRM (BLEU) ↓": True}


def test_with_many_systems_each_is_compared_with_the_first(captions_run, monkeypatch):
    monkeypatch.setattr(module, "ALL_PAIRS", 2)
    (chart,) = differences(captions_run)
    rows = chart.spec["datasets"]["differences"]
    assert {(row["pair"], row["b"]) for row in rows} == {("central", "people"), ("other <b>scene</b>", "people")}
    assert "against people" in chart.title
    all_pairs = {(row.system_a, row.system_b, shown_name(row)): row for row in harness.compare(captions_run.path)}
    for row in rows:  # stored rows are people - X; the chart has X - people
        assert row["difference"] == -all_pairs["people", row["a"], row["metric"]].difference
        assert row["low"] is None or row["low"] <= row["difference"] <= row["high"]


def test_no_interval_is_cut_off_by_the_axis(captions_run):
    (chart,) = differences(captions_run)
    rows = chart.spec["datasets"]["differences"]
    for panel in chart.build(PAGE)["concat"]:
        low, high = panel["layer"][2]["encoding"]["x"]["scale"]["domain"]
        metric = panel["title"].rsplit(" ", 1)[0]
        ends = [row[end] for row in rows if row["metric"] == metric for end in ("low", "high") if row[end] is not None]
        assert all(low < end < high for end in ends)
        assert low < 0 < high


@pytest.mark.parametrize("models", [["one"], []])
def test_a_run_without_two_systems_has_no_forest_plot(captions_run, models):
    samples = captions_run.samples.to_dict()
    few = [k for k, name in enumerate(samples["model"]) if name in ("people",) and models]
    table = type(captions_run.samples)({name: [column[k] for k in few] for name, column in samples.items()})
    assert differences(Run(captions_run.provenance, captions_run.records, table)) == []


def test_the_caption_names_metrics_that_are_not_compared(captions_run, monkeypatch):
    monkeypatch.setattr(module, "compared_systems", lambda run: Compared(harness.compare(run.path), note="not compared: x"))
    (chart,) = differences(captions_run)
    assert chart.caption.endswith(" Not compared: x.")
