"""Curves over the threshold of the overlap."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.page.charts import PAGE, PHONE, event_curves
from harness.page.charts.event_curves import GRID
from tests.support.event_runs import many_videos, run_of, small_run

OLD = "dense:protocol=activitynet-2018"


def rows_of(chart):
    return chart.spec["datasets"]["curves"]


def test_the_mean_over_the_thresholds_of_a_metric_is_its_number():
    run = small_run([OLD, f"{OLD},measure=recall"])
    (chart,) = event_curves.event_curves(run)
    for record in run.records:
        names = {row["metric"] for row in rows_of(chart)}
        own = [
            row["y"]
            for row in rows_of(chart)
            if row["own"]
            and row["system"] == record.model
            and ("recall" in row["metric"]) == ("recall" in record.metric)
        ]
        assert len(own) == 4 and len(names) == 2
        assert np.mean(own) == pytest.approx(record.value)


def test_localisation_falls_with_the_threshold():
    (chart,) = event_curves.event_curves(small_run())
    assert chart.id == "localisation"
    for measure in ("precision of pairs", "recall of pairs"):
        values = [
            row["y"]
            for row in rows_of(chart)
            if (row["metric"], row["system"]) == (measure, "good")
        ]
        assert len(values) == len(GRID) and values == sorted(values, reverse=True)
    first = next(row for row in rows_of(chart) if row["metric"].startswith("precision"))
    assert 0 < first["y"] <= 1
    empty = [row["y"] for row in rows_of(chart) if row["system"] == "empty"]
    assert set(empty) == {0.0}


@pytest.mark.parametrize("layout", [PAGE, PHONE])
def test_layouts_have_a_panel_for_each_metric(layout):
    (chart,) = event_curves.event_curves(small_run([OLD, f"{OLD},measure=recall"]))
    assert len(chart.build(layout)["concat"]) == 2


def test_of_many_examples_some_are_drawn_and_it_is_said(monkeypatch):
    monkeypatch.setattr(event_curves, "MOST_EXAMPLES", 10)
    (chart,) = event_curves.event_curves(many_videos(40))
    assert chart.caption.endswith("10 of 40 examples, evenly spread.")


@pytest.mark.parametrize(
    "metric", ["dense:protocol=soda-c", "dense:protocol=vidchapters,measure=f1"]
)
def test_metrics_that_are_no_means_over_thresholds_have_none(metric):
    assert event_curves.event_curves(small_run([metric])) == []


def test_captions_have_no_curves():
    run = run_of({"s": {"v": ["a dog"]}}, {"v": ["a dog"]}, ["rouge"])
    assert event_curves.event_curves(run) == []
    assert math.isfinite(run.records[0].value)
