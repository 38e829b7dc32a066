"""Charts of the numbers per example."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm, spearmanr

from harness.page.charts import samples
from harness.page.charts.chart import PAGE, Layout
from harness.page.charts.samples import (
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
)
from harness.reporting.table import shown_names
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

P_VALUES = [0.05, 0.1, 0.15, 1.0, 0.5, math.nan, 0.0]
FIVE = {
    "a": [1.0, 2.0, 3.0, 4.0, 5.0],
    "b": [5.0, 4.0, 3.0, 2.0, 1.0],
    "c": [2.0, 1.0, 4.0, 3.0, 5.0],
    "flat": [1.0] * 5,
}


def test_a_density_has_area_one_and_follows_the_values():
    values = np.random.default_rng(0).normal(3, 2, 2000)
    grid = np.linspace(-8, 14, 400)
    curve = density(values, grid, 1e-6)
    area = float(np.trapezoid(curve, grid))
    assert area == pytest.approx(1, abs=0.01)
    normal = np.exp(-0.5 * ((grid - 3) / 2) ** 2) / (2 * np.sqrt(2 * np.pi))
    assert np.abs(curve - normal).max() < 0.02


def test_a_curve_shows_two_groups_of_scores_apart():
    scores = np.concatenate(
        [np.random.default_rng(0).normal(m, 0.02, 400) for m in (0.2, 0.8)]
    )
    widths = np.array(
        [point["top"] - point["bottom"] for point in _curves("m", [scores])]
    )
    assert (
        abs(widths).max() == pytest.approx(0.84) and abs(widths[len(widths) // 2]) < 0.1
    )


def test_equal_values_have_a_density():
    curve = density(np.full(10, 0.5), np.linspace(0, 1, 50), 0.02)
    assert np.isfinite(curve).all()
    assert np.argmax(curve) in (24, 25)


def test_scores_have_a_curve_and_quartiles_per_system_and_metric(captions_run):
    (chart,) = score_distributions(captions_run)
    data = chart.spec["datasets"]
    system = captions_run.samples.systems[1]
    mark = next(
        mark
        for mark in data["marks"]
        if mark["metric"] == "ROUGE-L (COCO) ↑" and mark["row"] == 1
    )
    scores = system.scores("rouge")
    assert mark["median"] == pytest.approx(np.median(scores))
    assert mark["mean"] == pytest.approx(scores.mean())
    assert (mark["low"], mark["high"]) == pytest.approx(
        tuple(np.quantile(scores, [0.25, 0.75]))
    )
    assert {
        curve["row"]
        for curve in data["curves"]
        if curve["metric"] == "ROUGE-L (COCO) ↑"
    } == {0, 1, 2}
    assert all(
        curve["top"] <= curve["row"] <= curve["bottom"] for curve in data["curves"]
    )


def test_systems_beyond_the_most_are_left_out_with_a_note(captions_run, monkeypatch):
    monkeypatch.setattr(samples, "MOST_SYSTEMS", 3)
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
        system = next(
            system for system in captions_run.samples.systems if system.model == name
        )
        p = system.p_values(labels[metric])
        counts = [
            bar["count"]
            for bar in bars
            if (bar["metric"], bar["system"]) == (metric, name)
        ]
        edges = np.arange(bins + 1) / bins + 1e-9  # a bin holds its upper end
        edges[0] = 0
        assert counts == list(np.histogram(p[np.isfinite(p)], edges)[0])


def test_few_possible_p_values_have_a_bin_each(captions_run):
    few = [
        replace(record, p={**record.p, "floor": 1 / 6}) if record.p else record
        for record in captions_run.records
    ]
    (chart,) = p_histograms(replace(captions_run, records=tuple(few)))
    bars = chart.spec["datasets"]["bars"]
    assert sorted({bar["low"] for bar in bars}) == pytest.approx(
        [k / 6 for k in range(6)]
    )
    assert "in 6 bins" in chart.caption and "Bars beyond 83%" in chart.caption
    unknown = [
        replace(record, p={**record.p, "floor": None}) if record.p else record
        for record in captions_run.records
    ]
    assert (
        f"in {BINS} bins"
        in p_histograms(replace(captions_run, records=tuple(unknown)))[0].caption
    )
    some = [
        replace(record, p={**record.p, "floor": 0.1}) if record.p else record
        for record in captions_run.records
    ]
    assert (
        "in 10 bins"
        in p_histograms(replace(captions_run, records=tuple(some)))[0].caption
    )


def histograms(metrics, systems, floor=0.01):
    """Return the histograms of the p-values 0.1, 0.2, ...,
    0.9 of each metric and system.
    """
    values = np.linspace(0.1, 0.9, 9)
    named = [
        SimpleNamespace(
            model=name, decoding={}, decoding_key="", p_values=lambda metric: values
        )
        for name in systems
    ]
    records = [
        ResultRecord(model=name, metric=metric, value=0.5, p={"floor": floor})
        for name in systems
        for metric in metrics
    ]
    (chart,) = p_histograms(
        SimpleNamespace(records=records, samples=SimpleNamespace(systems=named))
    )
    return chart


def test_histograms_have_two_bins_at_least():
    chart = histograms(["a"], ["one"], floor=1.0)
    assert [bar["count"] for bar in chart.spec["datasets"]["bars"]] == [5, 4]
    assert "in 2 bins" in chart.caption and "Bars beyond 100%" in chart.caption


def test_twelve_systems_are_drawn():
    for count in (12, 13):
        chart = histograms(["a"], [f"s{k}" for k in range(count)])
        assert len({bar["system"] for bar in chart.spec["datasets"]["bars"]}) == 12
        assert chart.caption.endswith(" The first 12 of 13 systems.") is (count == 13)


@pytest.mark.parametrize(
    ("metrics", "length", "columns"), [(6, 8, 3), (3, 20, 2), (3, 40, 2)]
)
def test_histograms_stand_in_as_many_columns_as_have_room_for_the_names_of_metrics(
    metrics, length, columns
):
    """Beside labels of 45 units are 5 columns of 55 units,
    and 2 of 110 or 121 units, with 16 between them.
    """
    chart = histograms([str(k) + "m" * (length - 1) for k in range(metrics)], ["one"])
    rows = chart.build(Layout(width=400, panel=50, font=10))["vconcat"]
    assert len(rows[0]["facet"]["column"]["sort"]) == columns and len(rows) == 2


@pytest.mark.parametrize(("count", "drawn"), [(4, False), (5, True)])
def test_distributions_are_of_five_examples_at_least(count, drawn, monkeypatch):
    values = np.linspace(0.1, 0.9, count)
    assert (distributions({"a": {"one": values}}) is not None) == drawn
    system = SimpleNamespace(p_values=lambda metric: values)
    monkeypatch.setattr(samples, "_systems", lambda run: ([system], ["one"], ""))
    record = ResultRecord(model="one", metric="a", value=0.5, p={"floor": 0.01})
    assert bool(p_histograms(SimpleNamespace(records=(record,)))) == drawn


def test_scores_of_which_half_are_equal_have_no_curve():
    spread = np.linspace(0, 1, 50)
    flat = np.r_[np.ones(45), np.zeros(5)]
    chart = distributions({"spread": {"a": spread}, "flat": {"a": flat}})
    assert chart is not None and {
        row["metric"] for row in chart.spec["datasets"]["curves"]
    } == {"spread"}
    assert chart.caption.endswith(
        "Not drawn, because at least half of the scores are equal: flat."
    )
    assert distributions({"flat": {"a": flat}}) is None


def test_correlations_are_spearmans_oriented_and_averaged(captions_run):
    systems = captions_run.samples.systems
    direction = {"bleu1": True, "trm(bleu)": False}
    matrix = mean_rank_correlation(systems, ["bleu1", "trm(bleu)"], direction)
    expected = np.mean(
        [
            spearmanr(s.scores("bleu1"), -s.scores("trm(bleu)")).statistic
            for s in systems
        ]
    )
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
    assert matrix[0, 1] == pytest.approx(
        spearmanr(*scores, nan_policy="omit").statistic
    )


def test_correlations_of_undefined_or_equal_scores_are_undefined():
    values = {
        "a": np.arange(6.0),
        "few": np.r_[np.arange(4.0), np.nan, np.nan],
        "equal": np.ones(6),
        "none": np.full(6, np.nan),
    }
    system = SimpleNamespace(scores=values.get)
    with np.errstate(all="raise"):
        matrix = mean_rank_correlation(
            [system], list(values), dict.fromkeys(values, True)
        )
    assert matrix[0, 0] == pytest.approx(1) and np.isfinite(matrix).sum() == 1


def test_similar_metrics_stand_together():
    matrix = np.array(
        [[1, 0.1, 0.9, 0.0], [0.1, 1, 0.0, 0.8], [0.9, 0.0, 1, 0.1], [0.0, 0.8, 0.1, 1]]
    )
    order = leaf_order(matrix)
    assert abs(order.index(0) - order.index(2)) == 1
    assert abs(order.index(1) - order.index(3)) == 1
    undefined = np.array(
        [
            [1, np.nan, -0.4, -0.15],
            [np.nan, 1, 0.55, -0.2],
            [-0.4, 0.55, 1, -0.25],
            [-0.15, -0.2, -0.25, 1],
        ]
    )
    assert leaf_order(undefined) == leaf_order(np.nan_to_num(undefined)), (
        "no correlation is one of 0"
    )


def test_the_matrix_has_a_cell_per_pair(captions_run):
    (chart,) = metric_correlations(captions_run)
    cells = chart.spec["datasets"]["cells"]
    labels = {cell["x"] for cell in cells}
    assert {"BLEU-1 ↑", "ROUGE-L (COCO) ↑", "TRM (BLEU) ↓"} <= labels
    assert all(cell["text"] != "-0.00" for cell in cells)
    assert [
        len(chart.build(layout)["layer"]) for layout in (PAGE, replace(PAGE, width=120))
    ] == [2, 1], "texts where they have room"


def test_labels_of_ticks_are_quoted():
    names = ['a "quoted" name', "'); alert(1)"]
    text = label_list(names)
    assert text.endswith("[datum.value]")
    assert json.loads(text.removesuffix("[datum.value]")) == names


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        ([0.0, 1.0, 2.0, 3.0, 10.0], 2.0 / 1.34),  # the quartile distance
        ([0.0, 0.0, 1.0, 1.0], 0.5),  # the standard deviation
        ([0.0] * 9 + [1.0], 0.3),  # the quartile distance is 0
    ],
)
def test_a_density_is_a_mean_of_bells_by_silvermans_rule(values, spread):
    grid = np.linspace(-5, 15, 401)
    for smallest in (0.01, 2.5):
        width = max(0.9 * spread * len(values) ** -0.2, smallest)
        expected = norm.pdf(grid[:, None], loc=values, scale=width).mean(axis=1)
        assert density(np.array(values), grid, smallest) == pytest.approx(
            expected, abs=0.02 * expected.max()
        )


def test_curves_fill_their_row_and_systems_of_few_scores_have_quartiles_alone():
    scores = {
        "a": np.linspace(0, 1, 50),
        "b": np.array([0.5, 0.25, 0.75, np.nan]),
        "c": np.full(4, np.nan),
        "d": np.linspace(0, 2, 9),
    }
    chart = distributions({"m": scores}, " A note.")
    assert chart is not None and chart.caption.endswith("white ticks medians. A note.")
    curves = chart.spec["datasets"]["curves"]
    marks = chart.spec["datasets"]["marks"]
    for row in (0, 3):
        curve = [point for point in curves if point["row"] == row]
        assert [point["x"] for point in curve] == pytest.approx(
            [float(f"{x:.5g}") for x in np.linspace(0, 2, 60)]
        )
        assert max(row - point["top"] for point in curve) == pytest.approx(0.42)
        assert [row - point["top"] for point in curve] == pytest.approx(
            [point["bottom"] - row for point in curve]
        )
    assert len(curves) == 2 * 60
    assert [(mark["row"], mark["system"]) for mark in marks] == [
        (0, "a"),
        (1, "b"),
        (3, "d"),
    ]
    assert marks[1] == {
        "metric": "m",
        "row": 1,
        "system": "b",
        "low": 0.375,
        "median": 0.5,
        "high": 0.625,
        "mean": 0.5,
        "text": "0.5000",
        "mean_text": "0.5000",
    }


@pytest.mark.parametrize(("upper", "drawn"), [(51.0, False), (51.1, True)])
def test_scores_whose_middle_half_is_a_hundredth_of_the_range_have_no_curve(
    upper, drawn
):
    narrow = np.array([0.0, 50.0, 50.5, upper, 100.0])
    assert (distributions({"m": {"a": narrow}}) is not None) is drawn
    assert (
        distributions({"m": {"a": narrow, "b": np.linspace(0, 100, 5)}}) is not None
    ), "one distribution is enough"


def run_of(scores: dict, systems: int = 1, **fields) -> Run:
    """A run of systems with the same scores per example: column -> numbers; records of
    the metrics have the fields.
    """
    count = len(next(iter(scores.values())))
    names = [f"s{k}" for k in range(systems) for _ in range(count)]
    columns = {
        "model": names,
        "decoding": ["{}"] * len(names),
        "example": [f"e{k}" for k in range(count)] * systems,
    }
    columns |= {name: [["x"]] * len(names) for name in ("candidates", "references")}
    columns |= {name: list(values) * systems for name, values in scores.items()}
    metrics = [name for name in scores if not name.startswith("p:")]
    records = [
        ResultRecord(model=f"s{k}", metric=name, **fields.get(name, {}))
        for k in range(systems)
        for name in metrics
    ]
    return Run(Provenance({}), tuple(records), SampleTable(columns))


def test_as_many_systems_as_there_is_room_for_are_drawn_without_a_note():
    for systems, note in ((12, ""), (13, " The first 12 of 13 systems.")):
        run = run_of(
            {"m": np.linspace(0, 1, 5), "p:m": np.linspace(0.2, 1, 5)}, systems
        )
        for (chart,) in (score_distributions(run), p_histograms(run)):
            assert chart.caption.endswith(note) and (
                "systems." in chart.caption
            ) is bool(note)


@pytest.mark.parametrize(
    ("floor", "counts", "cut"),
    [
        (0.1, [3, 1, 0, 0, 1, 0, 0, 0, 0, 1], "50%"),
        (0.5, [5, 1], "100%"),
        (1.0, [5, 1], "100%"),
    ],
)
def test_a_bin_of_p_values_has_its_upper_end(floor, counts, cut):
    run = run_of({"m": [0.0] * 7, "p:m": P_VALUES}, m={"p": {"floor": floor}})
    (chart,) = p_histograms(run)
    bars = chart.spec["datasets"]["bars"]
    assert [bar["count"] for bar in bars] == counts
    assert [bar["share"] for bar in bars] == pytest.approx(
        [count / 6 for count in counts]
    )
    assert [bar["low"] for bar in bars] == pytest.approx(
        [k / len(counts) for k in range(len(counts))]
    )
    assert [bar["high"] for bar in bars] == pytest.approx(
        [(k + 1) / len(counts) for k in range(len(counts))]
    )
    assert (
        f"in {len(counts)} bins" in chart.caption
        and f"Bars beyond {cut} are cut off" in chart.caption
    )
    assert p_histograms(run_of({"m": [0.0] * 7})) == []


def test_metrics_of_which_less_is_better_are_negated_and_flat_ones_left_out():
    fields = {"b": {"higher_is_better": False}}
    (chart,) = metric_correlations(run_of(FIVE, 2, **fields))
    cells = {
        (cell["x"], cell["y"]): cell["text"] for cell in chart.spec["datasets"]["cells"]
    }
    assert {name for name, _ in cells} == {"a", "b ↓", "c"} and len(cells) == 9
    assert (cells["a", "b ↓"], cells["a", "c"], cells["c", "c"]) == (
        "1.00",
        "0.80",
        "1.00",
    )
    (chart,) = metric_correlations(run_of(FIVE))
    cells = {
        (cell["x"], cell["y"]): cell["text"] for cell in chart.spec["datasets"]["cells"]
    }
    assert (cells["a", "b"], cells["b", "c"]) == ("−1.00", "−0.80")
    assert metric_correlations(run_of({name: FIVE[name] for name in ("a", "b")})) == []
    assert (
        metric_correlations(run_of({name: FIVE[name] for name in ("a", "b", "flat")}))
        == []
    )
    assert (
        metric_correlations(run_of({name: values[:4] for name, values in FIVE.items()}))
        == []
    ), "of four examples"


def test_correlations_are_means_over_the_systems_that_define_them():
    one = SimpleNamespace(scores={"a": np.arange(5.0), "b": np.arange(5.0)}.get)
    other = SimpleNamespace(
        scores={"a": np.arange(5.0), "b": np.array([2.0, 1.0, 4.0, 3.0, 5.0])}.get
    )
    undefined = SimpleNamespace(
        scores={"a": np.arange(5.0), "b": np.array([np.nan, 1.0, 4.0, 3.0, 5.0])}.get
    )
    matrix = mean_rank_correlation(
        [one, other, undefined], ["a", "b"], {"a": True, "b": None}
    )
    assert matrix == pytest.approx(np.array([[1.0, 0.9], [0.9, 1.0]]))
    alone = mean_rank_correlation([undefined], ["a", "b"], {"a": True, "b": True})
    assert np.isnan(alone[0, 1]) and alone[0, 0] == pytest.approx(1)
