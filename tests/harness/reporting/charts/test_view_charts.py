"""Views of a spec as charts."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.reporting.charts.layout import PAGE
from harness.reporting.charts.view_charts import view_chart, view_charts
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec

RECORDS = [
    ResultRecord(
        model=model, metric=metric, value=value + temperature, decoding={"temperature": temperature},
        ci95=(value + temperature - 0.1, value + temperature + 0.1), higher_is_better=metric == "cider",
    )
    for model, metric, value in (("one", "cider", 1.0), ("two", "cider", 2.0), ("one", "ter", 3.0), ("two", "ter", 4.0))
    for temperature in (0.5, 0.7)
]  # fmt: skip


def rows(chart):
    return chart.spec["datasets"]["rows"]


@pytest.mark.parametrize("plot", ["line", "scatter", "bar", "heatmap"])
def test_every_kind_has_a_row_per_value(plot):
    view = ViewSpec(plot=plot, x="decoding.temperature", y="cider", by="model", title="A title", note="A note.")
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
    assert [layer["mark"]["type"] for layer in view_chart(view, RECORDS).spec["layer"]] == ["area", "line", "point"]
    bars = view_chart(view.model_copy(update={"plot": "bar"}), RECORDS)
    assert [layer["mark"]["type"] for layer in bars.spec["layer"]] == ["bar", "rule"]
    assert rows(bars)[0]["low"] == pytest.approx(1.4)


def test_heat_maps_orient_each_metric_by_its_direction():
    chart = view_chart(
        ViewSpec(plot="heatmap", x="metric", y="*", by="model"), [RECORDS[0], RECORDS[2], RECORDS[4], RECORDS[6]]
    )
    cells = {(row["x"], row["series"]): row["position"] for row in rows(chart)}
    assert cells == {("cider", "one"): 0, ("cider", "two"): 1, ("ter", "one"): 1, ("ter", "two"): 0}


def test_names_on_an_axis_keep_their_order():
    spec = view_chart(ViewSpec(plot="bar", x="model", y="ter"), RECORDS[4::2]).build(PAGE)
    assert spec["layer"][0]["encoding"]["x"]["sort"] == ["one", "two"]


def test_metrics_against_each_other():
    spec = view_chart(ViewSpec(plot="scatter", x="metric:ter", y="cider", by="model"), RECORDS).build(PAGE)
    assert spec["layer"][1]["encoding"]["x"]["axis"]["title"] == "ter"
    assert spec["layer"][1]["encoding"]["y"]["axis"]["title"] == "cider"


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
    run = type(captions_run)(type(captions_run.provenance)(content), captions_run.records, captions_run.samples)
    assert [chart.id for chart in view_charts(run)] == ["view-2", "view-4"]
