"""Charts of the numbers per example."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.reporting.charts import samples
from harness.reporting.charts.chart import PAGE
from harness.reporting.charts.samples import (
    BINS,
    _curves,
    density,
    distributions,
    label_list,
    leaf_order,
    mean_rank_correlation,
    metric_correlations,
    p_histograms,
    score_distributions,
)  # fmt: skip
from harness.reporting.table import shown_names
from harness.rundir.records import ResultRecord


def test_a_density_has_area_one_and_follows_the_values():
    values = np.random.default_rng(0).normal(3, 2, 2000)
    grid = np.linspace(-8, 14, 400)
    curve = density(values, grid, 1e-6)
    area = float(np.trapezoid(curve, grid))
    assert area == pytest.approx(1, abs=0.01)
    normal = np.exp(-0.5 * ((grid - 3) / 2) ** 2) / (2 * np.sqrt(2 * np.pi))
    assert np.abs(curve - normal).max() < 0.02


def test_a_curve_shows_two_groups_of_scores_apart():
    scores = np.concatenate([np.random.default_rng(0).normal(m, 0.02, 400) for m in (0.2, 0.8)])
    widths = np.array([point["top"] - point["bottom"] for point in _curves("m", [scores])])
    assert abs(widths).max() == pytest.approx(0.84) and abs(widths[len(widths) // 2]) < 0.1


def test_equal_values_have_a_density():
    curve = density(np.full(10, 0.5), np.linspace(0, 1, 50), 0.02)
    assert np.isfinite(curve).all()
    assert np.argmax(curve) in (24, 25)


def test_scores_have_a_curve_and_quartiles_per_system_and_metric(captions_run):
    (chart,) = score_distributions(captions_run)
    data = chart.spec["datasets"]
    system = captions_run.samples.systems[1]
    mark = next(mark for mark in data["marks"] if mark["metric"] == "ROUGE-L ↑" and mark["row"] == 1)
    scores = system.scores("rouge")
    assert mark["median"] == pytest.approx(np.median(scores))
    assert mark["mean"] == pytest.approx(scores.mean())
    assert (mark["low"], mark["high"]) == pytest.approx(tuple(np.quantile(scores, [0.25, 0.75])))
    assert {curve["row"] for curve in data["curves"] if curve["metric"] == "ROUGE-L ↑"} == {0, 1, 2}
    assert all(curve["top"] <= curve["row"] <= curve["bottom"] for curve in data["curves"])


def test_systems_beyond_the_most_are_left_out_with_a_note(captions_run, monkeypatch):
    assert " systems." not in score_distributions(captions_run)[0].caption
    monkeypatch.setattr(samples, "MOST_SYSTEMS", 2)
    (chart,) = score_distributions(captions_run)
    assert "The first 2 of 3 systems." in chart.caption
    assert {mark["row"] for mark in chart.spec["datasets"]["marks"]} == {0, 1}


def test_histograms_count_every_p_value(captions_run):
    (chart,) = p_histograms(captions_run)
    bars = chart.spec["datasets"]["bars"]
    labels = {name: label for label, name in shown_names(captions_run.records).items()}
    groups = {(bar["metric"], bar["system"]) for bar in bars}
    floor = next(record.p["floor"] for record in captions_run.records if record.p)
    bins = min(BINS, round(1 / floor))
    assert len(bars) == bins * len(groups)
    for metric, name in groups:
        system = next(system for system in captions_run.samples.systems if system.model == name)
        p = system.p_values(labels[metric])
        counts = [bar["count"] for bar in bars if (bar["metric"], bar["system"]) == (metric, name)]
        edges = np.arange(bins + 1) / bins + 1e-9  # a bin holds its upper end
        edges[0] = 0
        assert counts == list(np.histogram(p[np.isfinite(p)], edges)[0])


def test_few_possible_p_values_have_a_bin_each(captions_run):
    few = [replace(record, p={**record.p, "floor": 1 / 6}) if record.p else record for record in captions_run.records]
    (chart,) = p_histograms(replace(captions_run, records=tuple(few)))
    bars = chart.spec["datasets"]["bars"]
    assert sorted({bar["low"] for bar in bars}) == pytest.approx([k / 6 for k in range(6)])
    assert "in 6 bins" in chart.caption and "Bars beyond 83%" in chart.caption
    unknown = [replace(record, p={**record.p, "floor": None}) if record.p else record for record in captions_run.records]
    assert f"in {BINS} bins" in p_histograms(replace(captions_run, records=tuple(unknown)))[0].caption
    some = [replace(record, p={**record.p, "floor": 0.1}) if record.p else record for record in captions_run.records]
    assert "in 10 bins" in p_histograms(replace(captions_run, records=tuple(some)))[0].caption


@pytest.mark.parametrize(("count", "drawn"), [(4, False), (5, True)])
def test_distributions_are_of_five_examples_at_least(count, drawn, monkeypatch):
    values = np.linspace(0.1, 0.9, count)
    assert (distributions({"a": {"one": values}}) is not None) == drawn
    system = SimpleNamespace(p_values=lambda metric: values)
    monkeypatch.setattr(samples, "_systems", lambda run: ([system], ["one"], ""))
    record = ResultRecord(model="one", metric="a", value=0.5, p={"floor": 0.01})
    assert bool(p_histograms(SimpleNamespace(records=(record,)))) == drawn


def test_scores_of_which_half_are_equal_have_no_curve():
    spread, flat = np.linspace(0, 1, 50), np.r_[np.ones(45), np.zeros(5)]
    chart = distributions({"spread": {"a": spread}, "flat": {"a": flat}})
    assert chart is not None and {row["metric"] for row in chart.spec["datasets"]["curves"]} == {"spread"}
    assert chart.caption.endswith("Not drawn, because at least half of the scores are equal: flat.")
    assert distributions({"flat": {"a": flat}}) is None


def test_correlations_are_spearmans_oriented_and_averaged(captions_run):
    systems = captions_run.samples.systems
    direction = {"bleu1": True, "trm(bleu)": False}
    matrix = mean_rank_correlation(systems, ["bleu1", "trm(bleu)"], direction)
    expected = np.mean([spearmanr(s.scores("bleu1"), -s.scores("trm(bleu)")).statistic for s in systems])
    assert matrix[0, 1] == pytest.approx(expected)
    assert matrix[1, 0] == matrix[0, 1]
    assert np.diag(matrix) == pytest.approx([1, 1])


@pytest.mark.parametrize("gaps", [([0], [1]), ([0, 1], [2]), ([], [3])])
def test_correlations_are_those_of_the_examples_that_both_metrics_define(gaps):
    scores = np.random.default_rng(0).permuted(np.tile(np.arange(12.0), (2, 1)), axis=1)
    for row, undefined in zip(scores, gaps):
        row[undefined] = np.nan
    system = SimpleNamespace(scores=dict(zip("ab", scores)).get)
    matrix = mean_rank_correlation([system], ["a", "b"], {"a": True, "b": True})
    assert matrix[0, 1] == pytest.approx(spearmanr(*scores, nan_policy="omit").statistic)


def test_similar_metrics_stand_together():
    matrix = np.array([[1, 0.1, 0.9, 0.0], [0.1, 1, 0.0, 0.8], [0.9, 0.0, 1, 0.1], [0.0, 0.8, 0.1, 1]])
    order = leaf_order(matrix)
    assert abs(order.index(0) - order.index(2)) == 1
    assert abs(order.index(1) - order.index(3)) == 1
    undefined = np.array([[1, np.nan, -0.4, -0.15], [np.nan, 1, 0.55, -0.2], [-0.4, 0.55, 1, -0.25], [-0.15, -0.2, -0.25, 1]])
    assert leaf_order(undefined) == leaf_order(np.nan_to_num(undefined)), "no correlation is one of 0"


def test_the_matrix_has_a_cell_per_pair(captions_run):
    (chart,) = metric_correlations(captions_run)
    cells = chart.spec["datasets"]["cells"]
    labels = {cell["x"] for cell in cells}
    assert {"BLEU-1 ↑", "ROUGE-L ↑", "TRM (BLEU) ↓"} <= labels
    assert all(cell["text"] != "-0.00" for cell in cells)
    assert [len(chart.build(layout)["layer"]) for layout in (PAGE, replace(PAGE, width=120))] == [2, 1], "texts where they have room"


def test_labels_of_ticks_are_quoted():
    names = ['a "quoted" name', "'); alert(1)"]
    text = label_list(names)
    assert text.endswith("[datum.value]")
    assert json.loads(text.removesuffix("[datum.value]")) == names
