"""Charts of runs without being asked."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import harness
from harness.errors import InputError
from harness.page.charts import PAGE, Layout, charts_for
from harness.run.finished import Run
from harness.rundir.samples import SampleTable

EXPECTED = [
    "overview",
    "differences",
    "plane-1",
    "plane-2",
    "scores",
    "p-values",
    "metric-correlations",
]


def test_a_run_has_what_suits_it(captions_run):
    charts = charts_for([captions_run])
    assert [chart.id for chart in charts] == EXPECTED
    assert all(chart.title and chart.caption.endswith(".") for chart in charts)


@pytest.mark.slow
def test_specifications_are_valid_and_hold_their_data(captions_run):
    alt = pytest.importorskip("altair")
    for layout in (PAGE, Layout(width=234, panel=52, font=7)):
        for chart in charts_for([captions_run.path]):
            spec = chart.build(layout)
            alt.Chart.from_dict(spec).to_dict(validate=True)
            text = json.dumps(spec, allow_nan=False)
            assert "url" not in json.loads(text).get("data", {})
            assert spec["datasets"]


def test_several_runs_have_their_numbers_and_tasks(captions_run):
    charts = charts_for([captions_run, captions_run.path])
    assert [chart.id for chart in charts] == [
        f"{run}-{name}" for run in (1, 2) for name in EXPECTED
    ]
    assert charts[0].title == "sample: All results"


def test_a_run_of_one_model_and_metric_has_the_charts_of_its_decoding(project):
    run = harness.evaluate("spec.yaml", decoding={"candidates": [1, 2, 3]})
    charts = charts_for([run])
    assert "over-candidates" in [chart.id for chart in charts]
    assert charts_for([harness.evaluate("spec.yaml")]) == []


def test_a_run_without_defined_numbers_has_no_charts(captions_run):
    records = [
        replace(record, value=math.nan, ci95=None) for record in captions_run.records
    ]
    assert [
        chart.id
        for chart in charts_for(
            [
                Run(
                    captions_run.provenance,
                    tuple(records),
                    SampleTable.open(Path("none")),
                )
            ]
        )
    ] == []


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(InputError):
        charts_for([tmp_path])
