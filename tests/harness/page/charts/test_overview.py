"""The heat map of all results."""

from __future__ import annotations

import math
from dataclasses import replace

from harness.page.charts.chart import PAGE, Layout
from harness.page.charts.overview import (
    build,
    build_lines,
    oriented_cells,
    overview,
    sweep_rows,
    sweeps,
)
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

RECORDS = [
    ResultRecord(model=model, metric=metric, value=value, higher_is_better=direction)
    for metric, direction, values in (
        ("up", True, (1.0, 3.0, 2.0)),
        ("down", False, (10.0, 30.0, 15.0)),
        ("none", None, (1, 2, 3)),
    )
    for model, value in zip("abc", values)
]


def test_the_best_value_has_the_darkest_colour_whichever_the_direction():
    cells = {
        (cell["system"], cell["metric"]): cell["position"]
        for cell in oriented_cells(RECORDS)
    }
    assert [cells[model, "up ↑"] for model in "abc"] == [0, 1, 0.5]
    assert [cells[model, "down ↓"] for model in "abc"] == [1, 0, 0.75]
    assert all(math.isnan(cells[model, "none"]) for model in "abc")


def test_equal_and_undefined_values_have_no_colour():
    same = [replace(record, value=1.0) for record in RECORDS[:2]] + [
        replace(RECORDS[2], value=math.nan)
    ]
    assert all(math.isnan(cell["position"]) for cell in oriented_cells(same))


def test_sets_of_different_sizes_have_columns_of_their_own():
    records = [
        ResultRecord(
            model=model,
            metric="mmd",
            value=1.0,
            level="set",
            higher_is_better=False,
            sizes={"candidates": [n], "references": [5]},
        )
        for model, n in (("a", 1), ("b", 10))
    ]
    assert [cell["metric"] for cell in oriented_cells(records)] == [
        "MMD ↓ (1 + 5)",
        "MMD ↓ (10 + 5)",
    ]


def test_systems_keep_the_order_of_the_run(captions_run):
    (chart,) = overview(captions_run)
    assert list(
        dict.fromkeys(cell["system"] for cell in chart.spec["datasets"]["cells"])
    ) == ["people", "central", "other <b>scene</b>"]


def test_metrics_become_rows_in_a_narrow_figure():
    cells = oriented_cells(RECORDS)
    wide, narrow = (
        build(cells, Layout(width=width, panel=50, font=8))["layer"][0]["encoding"][
            "x"
        ]["field"]
        for width in (500, 60)
    )
    assert (wide, narrow) == ("metric", "system")


def test_a_single_system_or_metric_has_no_heat_map(captions_run):
    one = Run(captions_run.provenance, captions_run.records[:4], captions_run.samples)
    assert overview(one) == []
    assert (
        overview(Run(captions_run.provenance, RECORDS[:3], captions_run.samples)) == []
    )


def run_of(*records: ResultRecord) -> Run:
    return Run(Provenance({}), records, SampleTable.empty())


def test_three_to_sixty_systems_of_two_metrics_have_a_heat_map():
    systems = [
        [
            ResultRecord(model=str(k), metric=metric, value=float(k))
            for metric in ("x", "y")
        ]
        for k in range(61)
    ]
    counts = {
        count: len(
            overview(
                run_of(*(record for system in systems[:count] for record in system))
            )
        )
        for count in (1, 2, 3, 60, 61)
    }
    assert counts == {1: 0, 2: 0, 3: 1, 60: 1, 61: 0}
    undefined = [
        replace(record, value=math.nan) if record.metric == "y" else record
        for system in systems[:3]
        for record in system
    ]
    assert overview(run_of(*undefined)) == []


def test_one_finite_value_beside_an_infinite_one_has_no_colour():
    cells = oriented_cells(
        [replace(RECORDS[0], ci95=(0.5, 1.5), value=math.inf), RECORDS[1]]
    )
    assert [(cell["text"], cell["interval"]) for cell in cells] == [
        ("inf", "0.5000 … 1.5000"),
        ("3.0000", "–"),
    ]
    assert math.isnan(cells[1]["position"]), (
        "one finite value is neither best nor worst"
    )


def test_every_field_with_several_values_has_a_chart():
    values = [
        {"top_p": 0.5, "beams": 3},
        {"top_p": 0.9, "beams": 3},
        {"top_p": 0.9, "beams": 5},
    ]
    charts = sweeps(
        run_of(*(record("a", "cider", 1.0, **decoding) for decoding in values))
    )
    assert [(chart.id, chart.title, chart.group) for chart in charts] == [
        ("over-top-p", "Metrics over top p", "sweeps"),
        ("over-beams", "Metrics over beams", "sweeps"),
    ]
    rows = charts[0].spec["datasets"]["rows"]
    assert [(row["line"], row["x"], row["low"], row["high"]) for row in rows] == [
        ("a beams=3", 0.5, 0.9, 1.1),
        ("a beams=3", 0.9, 0.9, 1.1),
        ("a beams=5", 0.9, 0.9, 1.1),
    ]


def test_undefined_values_and_flags_have_no_place_on_the_axis():
    records = [
        record("a", "cider", value, temperature=t)
        for value, t in ((1.0, 0.5), (math.nan, 0.6), (2.0, True), (3.0, 0.7))
    ]
    rows = sweep_rows([*records[:3], replace(records[3], ci95=None)], "temperature")
    assert [(row["x"], row["y"], row["low"], row["interval"]) for row in rows] == [
        (0.5, 1.0, 0.9, "0.9000 … 1.1000"),
        (0.7, 3.0, None, "–"),
    ]


def record(model, metric, value, **decoding):
    return ResultRecord(
        model=model,
        metric=metric,
        value=value,
        decoding=decoding,
        ci95=(value - 0.1, value + 0.1),
        higher_is_better=True,
    )


SWEEPS_RECORDS = [
    record(model, metric, value * t, strategy=strategy, temperature=t)
    for model, strategy in (("a", "nucleus"), ("a", "sample"), ("b", "nucleus"))
    for metric, value in (("cider", 1.0), ("bleu", 2.0))
    for t in (0.5, 0.7)
]


def test_other_fields_that_vary_belong_to_the_line():
    rows = sweep_rows(SWEEPS_RECORDS, "temperature")
    assert len(rows) == len(SWEEPS_RECORDS)
    assert {row["line"] for row in rows} == {"a nucleus", "a sample", "b nucleus"}
    assert {row["x"] for row in rows} == {0.5, 0.7}


def test_a_field_with_one_value_has_no_chart():
    assert sweep_rows(SWEEPS_RECORDS, "candidates") == []
    assert sweep_rows(SWEEPS_RECORDS[:1], "temperature") == []


def test_a_record_without_the_field_has_its_default():
    rows = sweep_rows(
        [*SWEEPS_RECORDS[:2], record("a", "cider", 3.0, strategy="nucleus")],
        "temperature",
    )
    assert [row["x"] for row in rows] == [0.5, 0.7, 1.0]


def test_every_metric_has_a_panel_with_band_line_and_points():
    spec = build_lines(sweep_rows(SWEEPS_RECORDS, "temperature"), "temperature", PAGE)
    assert [panel["title"] for panel in spec["concat"]] == ["CIDEr-D ↑", "BLEU ↑"]
    assert [layer["mark"]["type"] for layer in spec["concat"][0]["layer"]] == [
        "area",
        "line",
        "point",
    ]
