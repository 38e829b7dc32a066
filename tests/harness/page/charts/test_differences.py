"""The forest plot."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

import harness
from harness.page.charts import differences as module
from harness.page.charts.chart import PAGE, PHONE
from harness.page.charts.differences import differences, forest
from harness.reporting.compared_systems import Compared
from harness.reporting.table import shown_name
from harness.run.finished import Run
from tests.support.comparisons import make_comparison


def test_every_pair_of_few_systems_has_a_row_per_metric(captions_run):
    (chart,) = differences(captions_run)
    rows = chart.spec["datasets"]["differences"]
    assert {row["pair"] for row in rows} == {
        "people − central",
        "people − other <b>scene</b>",
        "central − other <b>scene</b>",
    }
    assert len(rows) == 3 * 4
    expected = {
        (row.system_a, row.system_b, shown_name(row)): row
        for row in harness.compare(captions_run.path)
    }
    for row in rows:
        other = expected[row["a"], row["b"], row["metric"]]
        assert row["difference"] == other.difference
        word = {"A": "better", "B": "worse"}.get(other.better, "not significant")
        assert row["verdict"] == word
        assert row["low"] is None or row["low"] <= row["high"]


def test_axes_of_metrics_of_which_less_is_better_are_reversed(captions_run):
    (chart,) = differences(captions_run)
    panels = chart.spec["concat"]
    reverse = {
        panel["title"]: panel["layer"][2]["encoding"]["x"]["scale"]["reverse"]
        for panel in panels
    }
    assert reverse == {
        "BLEU-1 ↑": False,
        "ROUGE-L (COCO) ↑": False,
        "mBLEU-4 ↓": True,
        "TRM (BLEU) ↓": True,
    }


def test_with_many_systems_each_is_compared_with_the_first(captions_run, monkeypatch):
    monkeypatch.setattr(module, "ALL_PAIRS", 2)
    (chart,) = differences(captions_run)
    rows = chart.spec["datasets"]["differences"]
    assert {(row["pair"], row["b"]) for row in rows} == {
        ("central", "people"),
        ("other <b>scene</b>", "people"),
    }
    assert "against people" in chart.title
    all_pairs = {
        (row.system_a, row.system_b, shown_name(row)): row
        for row in harness.compare(captions_run.path)
    }
    for row in rows:  # stored rows are people - X; the chart has X - people
        assert (
            row["difference"]
            == -all_pairs["people", row["a"], row["metric"]].difference
        )
        assert row["low"] is None or row["low"] <= row["difference"] <= row["high"]
    row = all_pairs["people", rows[0]["a"], rows[0]["metric"]]
    words = [
        module._line(replace(row, better=better), "people")["verdict"]
        for better in ("A", "B", None)
    ]
    assert words == ["worse", "better", "not significant"]


def test_no_interval_is_cut_off_by_the_axis(captions_run):
    (chart,) = differences(captions_run)
    rows = chart.spec["datasets"]["differences"]
    for panel in chart.build(PAGE)["concat"]:
        low, high = panel["layer"][2]["encoding"]["x"]["scale"]["domain"]
        metric = panel["title"].rsplit(" ", 1)[0]
        ends = [
            row[end]
            for row in rows
            if row["metric"] == metric
            for end in ("low", "high")
            if row[end] is not None
        ]
        assert all(low < end < high for end in ends)
        assert low < 0 < high


@pytest.mark.parametrize("models", [["one"], []])
def test_a_run_without_two_systems_has_no_forest_plot(captions_run, models):
    samples = captions_run.samples.to_dict()
    few = [
        k for k, name in enumerate(samples["model"]) if name in ("people",) and models
    ]
    table = type(captions_run.samples)(
        {name: [column[k] for k in few] for name, column in samples.items()}
    )
    assert differences(Run(captions_run.provenance, captions_run.records, table)) == []


def test_the_caption_names_metrics_that_are_not_compared(captions_run, monkeypatch):
    monkeypatch.setattr(
        module,
        "compared_systems",
        lambda run: Compared(harness.compare(run.path), note="not compared: x"),
    )
    (chart,) = differences(captions_run)
    assert chart.caption.endswith(" Not compared: x.")


def test_as_many_systems_as_a_plot_holds_are_drawn(captions_run, monkeypatch):
    rows = harness.compare(captions_run.path)
    for most, count in ((3, 1), (2, 0)):
        monkeypatch.setattr(module, "MOST_SYSTEMS", most)
        assert len(differences(captions_run)) == count
        assert (forest(rows) is not None) == bool(count)


def compared(a: str, b: str, difference: float | None = 1.0, **fields):
    return make_comparison(
        metric="cider",
        system_a=a,
        system_b=b,
        difference=difference,
        p_holm=0.5,
        **fields,
    )


def pairs(chart) -> list[str]:
    return [row["pair"] for row in chart.spec["datasets"]["differences"]]


def test_of_four_systems_all_pairs_are_drawn_and_of_five_those_of_one_system():
    for count, expected in ((4, 6), (5, 4)):
        rows = [compared(a, b) for a, b in itertools.combinations("abcde"[:count], 2)]
        chart = forest(rows)
        assert len(pairs(chart)) == expected and chart.title == (
            "Differences between systems" if count == 4 else "Differences against a"
        )
    assert pairs(forest(rows, "c")) == ["a", "b", "d", "e"]


def test_the_system_that_all_rows_have_in_common_is_the_base():
    chart = forest([compared(name, "z") for name in "abcde"])
    assert chart.title == "Differences against z" and pairs(chart) == list("abcde")
    assert chart.caption.startswith("Differences against z on common examples")


def test_rows_without_a_difference_are_left_out():
    rows = [
        compared("a", "b", None),
        compared("a", "c", sizes_differ=True),
        compared("b", "c", -2.0, ci95=[-3.0, -1.0], better="B"),
    ]
    assert forest(rows[:2]) is None and forest([]) is None
    (line,) = forest(rows).spec["datasets"]["differences"]
    assert line == {
        "metric": "CIDEr-D",
        "direction": True,
        "pair": "b − c",
        "a": "b",
        "b": "c",
        "difference": -2.0,
        "low": -3.0,
        "high": -1.0,
        "verdict": "worse",
        "p": "0.5000",
        "text": "-2.0000",
    }
    (line,) = forest([rows[2]], "b").spec["datasets"]["differences"]
    assert line == {
        "metric": "CIDEr-D",
        "direction": True,
        "pair": "c",
        "a": "c",
        "b": "b",
        "difference": 2.0,
        "low": 1.0,
        "high": 3.0,
        "verdict": "better",
        "p": "0.5000",
        "text": "2.0000",
    }


def test_zero_is_on_every_axis():
    for difference in (5.0, -5.0):
        zero = forest([compared("a", "b", difference)]).spec["layer"][0]["encoding"][
            "x"
        ]
        assert zero["datum"] == 0
        low, high = zero["scale"]["domain"]
        assert (low, high) == pytest.approx(
            (-0.25, 5.25) if difference > 0 else (-5.25, 0.25)
        )


def test_names_of_a_pair_that_take_half_of_the_figure_stand_below_each_other():
    for name, layout, stacked in (
        ("a", PHONE, False),
        ("a" * 20, PHONE, True),
        ("a" * 20, PAGE, False),
    ):
        spec = forest([compared(name, "b" * len(name))]).build(layout)
        axis = spec["layer"][1]["encoding"]["y"]["axis"]
        assert ("labelExpr" in axis) is stacked
        assert axis.get("labelLineHeight") == (
            pytest.approx(1.1 * layout.font) if stacked else None
        )
        assert spec["height"]["step"] == pytest.approx(
            (2.9 if stacked else 1.7) * layout.font
        )


def test_axes_of_many_panels_leave_out_labels_and_legends_have_three_columns():
    rows = [
        replace(compared("a", "b"), metric=name)
        for name in ("cider", "rouge", "bleu4", "meteor")
    ]
    for count, layout, columns in ((1, PAGE, 3), (4, PAGE, 3), (2, PHONE, 2)):
        spec = forest(rows[:count]).build(layout)
        panel = spec["concat"][0] if count > 1 else spec
        assert panel["layer"][2]["encoding"]["color"]["legend"]["columns"] == columns
        assert panel["layer"][0]["encoding"]["x"]["axis"]["labelOverlap"] is True
    # a plot of 169.5 and columns of 88 for its 1.6-fold width
    narrow = forest([compared("a" * 31, "b")]).build(PHONE)
    assert (
        narrow["width"] == 169.5
        and narrow["layer"][2]["encoding"]["color"]["legend"]["columns"] == 3
    )
