"""Shared steps of charts."""

from __future__ import annotations

import json
import math

from harness.reporting.charts.build import finish_chart, label_list, legend_columns, pad_ends, shape_scale, system_names
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.vega import mark
from harness.rundir.records import ResultRecord


def test_systems_have_the_fields_in_which_they_differ():
    records = [
        ResultRecord(model=model, metric="m", decoding={"strategy": "nucleus", "temperature": t})
        for model in "ab"
        for t in (0.5, 1.0)
    ]
    assert list(system_names(records).values()) == ["a T=0.5", "a T=1", "b T=0.5", "b T=1"]
    assert list(system_names(records[:1]).values()) == ["a"]


def test_axes_have_a_margin():
    assert pad_ends([1.0, None, math.nan, 3.0], 0.05) == [0.9, 3.1]
    low, high = pad_ends([2.0])
    assert low < 2 < high
    assert pad_ends([0.0])[0] < 0
    assert pad_ends([]) == [-0.05, 1.05]


def test_labels_of_ticks_are_quoted():
    names = ['a "quoted" name', "'); alert(1)"]
    text = label_list(names)
    assert text.endswith("[datum.value]")
    assert json.loads(text.removesuffix("[datum.value]")) == names


def test_data_has_null_for_what_json_lacks():
    spec = finish_chart(mark("point", {}, data="rows"), rows=[{"x": math.inf, "y": 1.5, "z": "text"}])
    assert spec["datasets"] == {"rows": [{"x": None, "y": 1.5, "z": "text"}]}
    assert "config" not in spec


def test_shape_and_colour_together_name_a_series():
    names = [str(k) for k in range(49)]
    shapes = shape_scale(names)["range"]
    assert len({(k % 7, shape) for k, shape in enumerate(shapes)}) == 49


def test_legends_fit_below_the_figure():
    layout = Layout(width=240, panel=50, font=8)
    assert legend_columns(["a", "b", "c"], layout) > 3
    assert legend_columns(["a" * 100], layout) == 1
