"""Views of a spec as charts."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from harness.errors import HarnessError
from harness.page.charts.chart import PAGE, PHONE, Layout
from harness.page.charts.drawing import svg
from harness.page.charts.view_charts import view_chart, view_charts
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec

RECORDS = [
    ResultRecord(
        model=model,
        metric=metric,
        value=value + temperature,
        decoding={"temperature": temperature},
        ci95=(value + temperature - 0.1, value + temperature + 0.1),
        higher_is_better=metric == "cider",
    )
    for model, metric, value in (
        ("one", "cider", 1.0),
        ("two", "cider", 2.0),
        ("one", "ter", 3.0),
        ("two", "ter", 4.0),
    )
    for temperature in (0.5, 0.7)
]


def rows(chart):
    return chart.spec["datasets"]["rows"]


@pytest.mark.parametrize("plot", ["line", "scatter", "bar", "heatmap"])
def test_every_kind_has_a_row_per_value(plot):
    view = ViewSpec(
        plot=plot,
        x="decoding.temperature",
        y="cider",
        by="model",
        title="A title",
        note="A note.",
    )
    chart = view_chart(view, RECORDS)
    assert (chart.title, chart.caption, chart.group) == ("A title", "A note.", "views")
    assert [(row["series"], row["y"]) for row in rows(chart)] == [
        ("one", 1.5),
        ("one", 1.7),
        ("two", 2.5),
        ("two", 2.7),
    ]


def test_intervals_are_bands_and_bars():
    view = ViewSpec(plot="line", x="decoding.temperature", y="cider", by="model")
    assert [
        layer["mark"]["type"] for layer in view_chart(view, RECORDS).spec["layer"]
    ] == ["area", "line", "point"]
    bars = view_chart(view.model_copy(update={"plot": "bar"}), RECORDS)
    marks = [
        (layer["mark"]["type"], layer["mark"].get("style"))
        for layer in bars.spec["layer"]
    ]
    assert marks == [("bar", None), ("rule", "halo"), ("rule", "interval")]
    points = view_chart(view.model_copy(update={"plot": "scatter"}), RECORDS).spec[
        "layer"
    ]
    assert [layer["mark"]["type"] for layer in points] == ["rule", "point"]
    assert rows(bars)[0]["low"] == pytest.approx(1.4)


def test_heat_maps_orient_each_metric_by_its_direction():
    chart = view_chart(
        ViewSpec(plot="heatmap", x="metric", y="*", by="model"),
        [RECORDS[0], RECORDS[2], RECORDS[4], RECORDS[6]],
    )
    cells = {(row["x"], row["series"]): row["position"] for row in rows(chart)}
    assert cells == {
        ("CIDEr-D", "one"): 0,
        ("CIDEr-D", "two"): 1,
        ("TER", "one"): 1,
        ("TER", "two"): 0,
    }

    chart = view_chart(
        ViewSpec(plot="heatmap", x="model", y="ter", by="decoding.temperature"), RECORDS
    )
    cells = {(row["x"], row["series"]): row["position"] for row in rows(chart)}
    assert cells[("one", "0.5")] == 1 and cells[("two", "0.7")] == 0, (
        "less of it is better in every cell"
    )

    chart = view_chart(ViewSpec(plot="heatmap", x="model", y="cider"), RECORDS[:1])
    assert [row["position"] for row in rows(chart)] == [0.5], (
        "one value is neither best nor worst"
    )


def test_names_on_an_axis_keep_their_order():
    spec = view_chart(ViewSpec(plot="bar", x="model", y="ter"), RECORDS[4::2]).build(
        PAGE
    )
    assert spec["layer"][0]["encoding"]["x"]["sort"] == ["one", "two"]
    assert spec["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == 0
    long = [replace(record, model=record.model * 30) for record in RECORDS[4::2]]
    spec = view_chart(ViewSpec(plot="bar", x="model", y="ter"), long).build(PAGE)
    assert spec["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == -35, (
        "long names rise to their tick"
    )


@pytest.mark.parametrize(("length", "angle"), [(60, 0), (61, -35)])
def test_names_that_take_four_fifths_of_the_figure_are_slanted(length, angle):
    # 6 a letter, of 900
    records = [
        ResultRecord(model=name * length, metric="cider", value=1.0) for name in "ab"
    ]
    spec = view_chart(ViewSpec(plot="scatter", x="model", y="cider"), records).spec
    assert spec["layer"][1]["encoding"]["x"]["axis"]["labelAngle"] == angle


def test_metrics_against_each_other():
    by_model = view_chart(
        ViewSpec(plot="scatter", x="metric:ter", y="cider", by="model"), RECORDS
    ).spec
    assert len(by_model["datasets"]["points"]) == 4
    assert by_model["layer"][3]["encoding"]["x"]["axis"]["title"] == "TER ↓"
    assert by_model["layer"][3]["encoding"]["x"]["scale"]["reverse"] is True
    lines = view_chart(
        ViewSpec(plot="line", x="metric:ter", y="cider", by="model"), RECORDS
    ).spec
    assert [layer["mark"]["type"] for layer in lines["layer"]] == [
        "area",
        "line",
        "point",
    ]
    view = ViewSpec(
        plot="scatter", x="metric:ter", y="cider", by="decoding.temperature"
    )
    assert {row["series"] for row in rows(view_chart(view, RECORDS))} == {"0.5", "0.7"}


def test_an_axis_of_several_quantities_has_their_common_name():
    records = [replace(record, p_value=0.5) for record in RECORDS]
    spec = view_chart(
        ViewSpec(plot="bar", x="metric", y=["log p:ter", "log p:cider"], by="model"),
        records[::2],
    ).spec
    assert spec["layer"][0]["encoding"]["y"]["axis"]["title"] == "log p"
    assert spec["layer"][0]["encoding"]["x"]["axis"]["title"] is None


def test_an_axis_of_different_quantities_has_no_name():
    records = [replace(record, p_value=0.5) for record in RECORDS]
    spec = view_chart(
        ViewSpec(plot="bar", x="metric", y=["p:ter", "log p:cider"], by="model"),
        records[::2],
    ).spec
    assert spec["layer"][0]["encoding"]["y"]["axis"]["title"] is None


@pytest.mark.parametrize(("length", "angle"), [(8, 0), (9, -35)])
def test_names_rise_where_they_fill_more_than_four_fifths_of_the_figure(length, angle):
    """Two names of 8 letters have a width of 80 units."""
    records = [
        replace(record, model=record.model[0] * length) for record in RECORDS[4::2]
    ]
    spec = view_chart(ViewSpec(plot="bar", x="model", y="ter"), records).build(
        Layout(width=100, panel=20, font=10)
    )
    assert spec["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == angle


@pytest.mark.parametrize(("count", "angle"), [(8, 0), (9, -35)])
def test_nine_columns_of_a_heat_map_have_rising_names(count, angle):
    records = [
        ResultRecord(model=f"m{k}", metric="cider", value=float(k))
        for k in range(count)
    ]
    spec = view_chart(ViewSpec(plot="heatmap", x="model", y="cider"), records).spec
    assert spec["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == angle
    assert [row["position"] for row in spec["datasets"]["rows"]] == pytest.approx(
        [k / (count - 1) for k in range(count)]
    )


def test_an_unknown_metric_is_an_error_with_the_nearest():
    with pytest.raises(HarnessError, match="did you mean 'cider'"):
        view_chart(ViewSpec(plot="bar", y="cidre"), RECORDS)


def test_a_view_without_values_is_left_out():
    empty = [ResultRecord(model="one", metric="cider")]
    assert view_chart(ViewSpec(plot="bar", y="cider"), empty) is None


def test_tables_and_texts_are_no_charts(captions_run):
    content = {**captions_run.provenance.content}
    views = [
        {"plot": "table"},
        {"plot": "bar", "y": "rouge"},
        {"plot": "texts"},
        {"plot": "scatter", "x": "metric:rouge", "y": "bleu1"},
    ]
    content["spec"] = {**content["spec"], "views": views}
    run = type(captions_run)(
        type(captions_run.provenance)(content),
        captions_run.records,
        captions_run.samples,
    )
    assert [chart.id for chart in view_charts(run)] == ["view-2", "view-4"]


def test_bars_have_room_for_their_intervals_and_zero():
    records = [ResultRecord(model="one", metric="cider", value=0.3, ci95=(0.1, 0.5))]
    chart = view_chart(ViewSpec(plot="bar", y="cider"), records)
    assert chart is not None
    (ends,) = {
        tuple(layer["encoding"]["y"]["scale"]["domain"])
        for layer in chart.spec["layer"]
    }
    assert ends[0] == 0
    assert ends[1] == pytest.approx(0.52)
    assert chart.spec["width"] < PAGE.width / 2


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([1.0, 3.0], (0.0, 3.12)),
        ([-1.0, -3.0], (-3.12, 0.0)),
        ([-1.0, 1.0], (-1.08, 1.08)),
        ([0.0, 0.0], (0.0, 0.05)),
        ([float("inf"), 1.0], (0.0, 1.04)),
    ],
)
def test_the_axis_of_bars_holds_zero_and_a_margin_beyond_the_bars(values, ends):
    records = [
        ResultRecord(model=str(k), metric="cider", value=value)
        for k, value in enumerate(values)
    ]
    chart = view_chart(ViewSpec(plot="bar", y="cider"), records)
    assert chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == pytest.approx(
        ends
    )


def test_figures_are_as_wide_as_their_bars_need_and_no_higher_than_26_letters():
    def size(plot, count, layout):
        records = [
            ResultRecord(model=str(k), metric="cider", value=1.0) for k in range(count)
        ]
        spec = view_chart(ViewSpec(plot=plot, x="model", y="cider"), records).build(
            layout
        )
        return spec["width"], spec["height"]

    assert size("bar", 2, PAGE) == (9 * 12 * 3, 26 * 12)
    assert size("bar", 20, PAGE) == (900 - 5 * 12, 26 * 12)
    assert size("line", 2, PAGE) == (900 - 5 * 12, 26 * 12)
    assert size("scatter", 2, PHONE) == pytest.approx(
        (340 - 5 * 11, 0.62 * (340 - 5 * 11))
    )


def titles(**fields) -> list:
    """Titles of both axes of a view, with a value of two records on it."""
    records = [
        replace(record, p_value=0.5, seconds=2.0, decoding={"top_p": 0.5 + k})
        for k, record in enumerate(RECORDS[:2])
    ]
    encoding = view_chart(ViewSpec(plot="line", **fields), records).spec["layer"][1][
        "encoding"
    ]
    return [encoding[name]["axis"]["title"] for name in "xy"]


def test_axes_have_the_names_of_their_quantities():
    assert titles(x="decoding.top_p", y="cider") == ["top p", "CIDEr-D"]
    assert titles(x="model", y="p:cider") == [None, "p:CIDEr-D"]
    assert titles(x="metric", y="*", by="model") == [None, None]
    assert titles(x="model", y=["cider"], by="model") == [None, None], (
        "the values of metrics have no name in common"
    )
    assert titles(x="model", y=["p:cider"]) == [None, "p"]
    assert titles(x="model", y=["p:cider", "seconds:cider"]) == [None, None]


def test_numbers_are_a_scale_and_texts_and_flags_are_names():
    for values, kind in (
        ((1, 2.5), "quantitative"),
        (("a", "b"), "nominal"),
        ((False, True), "nominal"),
    ):
        records = [
            ResultRecord(model="a", metric="cider", value=1.0, decoding={"x": value})
            for value in values
        ]
        chart = view_chart(
            ViewSpec(plot="scatter", x="decoding.x", y="cider", by="model"), records
        )
        assert chart.spec["layer"][1]["encoding"]["x"]["type"] == kind
        assert [row["x"] for row in rows(chart)] == [
            value if kind == "quantitative" else str(value) for value in values
        ]


@pytest.mark.parametrize(("count", "angle"), [(8, 0), (9, -35)])
def test_many_columns_of_a_heat_map_have_slanted_names(count, angle):
    records = [
        ResultRecord(
            model=str(k), metric="cider", value=float(k), higher_is_better=None
        )
        for k in range(count)
    ]
    chart = view_chart(ViewSpec(plot="heatmap", x="model", y="cider"), records)
    assert chart.spec["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == angle
    assert [row["position"] for row in rows(chart)] == pytest.approx(
        [k / (count - 1) for k in range(count)]
    )


@pytest.mark.parametrize(
    ("changes", "is_plane"),
    [
        ({}, True),
        ({"by": None}, True),
        ({"plot": "line"}, False),
        ({"x": "model"}, False),
        ({"by": "decoding.temperature"}, False),
        ({"y": ["cider"]}, False),
        ({"y": "p:cider"}, False),
    ],
)
def test_two_metrics_of_systems_are_a_plane(changes, is_plane):
    records = [replace(record, p_value=0.5) for record in RECORDS]
    chart = view_chart(
        ViewSpec(
            **{
                "plot": "scatter",
                "x": "metric:ter",
                "y": "cider",
                "by": "model",
                "note": "A note.",
                **changes,
            }
        ),
        records,
    )
    assert ("points" in chart.spec["datasets"]) is is_plane
    assert (chart.caption, chart.group) == ("A note.", "views")


def drawn(view: ViewSpec, records: list[ResultRecord]) -> set[str]:
    """Return the texts of the picture of a view."""
    pytest.importorskip("vl_convert")
    chart = view_chart(view, records)
    assert chart is not None
    picture = ElementTree.fromstring(svg(chart.build(PAGE), "light", PAGE))
    return {
        element.text or ""
        for element in picture.iter()
        if element.tag.endswith("}text")
    }


@pytest.mark.parametrize("plot", ["line", "scatter", "bar", "heatmap"])
def test_pictures_have_labels_of_both_axes_and_series(plot):
    records = [
        ResultRecord(
            model=model,
            metric="cider",
            value=value,
            decoding={"temperature": t},
            ci95=(value - 1, value + 1),
        )
        for model, value in (("one", 1.0), ("two", 2.0))
        for t in (0.5, 0.7)
    ]
    labels = drawn(
        ViewSpec(plot=plot, x="decoding.temperature", y="cider", by="model"), records
    )
    assert {"one", "two", "temperature"} <= labels
    assert ("CIDEr-D" in labels) == (plot != "heatmap")


def test_series_and_titles_have_the_names_of_metrics():
    chart = view_chart(
        ViewSpec(plot="bar", x="model", y=["ter", "p:cider"]),
        [replace(record, p_value=0.5) for record in RECORDS[::2]],
    )
    assert chart.title == "TER, p:CIDEr-D"
    assert [row["series"] for row in rows(chart)] == [
        "TER",
        "TER",
        "p:CIDEr-D",
        "p:CIDEr-D",
    ]
    by_metric = view_chart(
        ViewSpec(plot="heatmap", x="model", y="*", by="metric"), RECORDS[::2]
    )
    assert {(row["series"], row["x"]): row["position"] for row in rows(by_metric)}[
        "TER TER", "one"
    ] == 1


@pytest.mark.parametrize(
    "name", [r"$\frac{$", "<script>alert(1)</script>", "a.b[0]", "a'b\"c"]
)
def test_names_are_texts(name):
    record = ResultRecord(model=name, metric=name, value=1.0)
    assert name in drawn(ViewSpec(plot="bar", x="model", y=name), [record])
