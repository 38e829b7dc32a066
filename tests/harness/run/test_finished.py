"""A finished run in memory and from its directory."""

from __future__ import annotations

import json

import pytest

import harness
import harness.api
from harness.errors import InputError
from harness.run.execution import Options
from harness.run.finished import Run, merge_runs
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


def test_a_run_of_a_directory_equals_the_run_in_memory(project):
    run = harness.evaluate("spec.yaml", output="r")
    again = Run.open("r")
    assert again.results == run.results
    assert again.manifest == run.manifest
    assert again.samples.to_dict() == run.samples.to_dict()
    assert (again.failed, list(again.notes), str(again.path)) == ({}, [], "r")
    assert repr(again) == "<run of words|m:2|seed:0|harness:0.1.0: 1 results, 0 failed>"


def test_statistics_of_which_a_shard_is_missing_are_none(project):
    run = harness.api.evaluate_all(
        "spec.yaml", output=project / "r", options=Options(shard_size=2)
    )[0]
    (record,) = run.records
    assert len(run.statistics(record)) == 6
    next((project / "r" / "scores").glob("*.npz")).unlink()
    assert harness.Run.open("r").statistics(record) is None


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"has no manifest\.json: no run here"):
        Run.open(tmp_path)


def test_records_become_a_data_frame_and_samples_a_dataset(project):
    pytest.importorskip("pandas")
    pytest.importorskip("datasets")
    run = harness.evaluate("spec.yaml")
    frame = run.to_pandas()
    assert frame["metric"].tolist() == ["length"]
    assert list(run.samples_frame()["example"]) == list(run.samples["example"])
    dataset = run.to_dataset()
    assert dataset.num_rows == 6
    assert dataset["example"][:2] == ["e0", "e1"]


def run_of(task, *metrics, **values):
    records = tuple(
        ResultRecord(model="m", metric=metric, value=0.5) for metric in metrics
    )
    return Run(
        Provenance({"task": task, "signature": f"{task}|seed:0"}),
        records,
        SampleTable.empty(),
        **values,
    )


def test_a_run_is_named_by_its_directory_or_its_task(tmp_path):
    assert run_of("t").name == "t"
    assert run_of("t", path=tmp_path / "r").name == str(tmp_path / "r")
    assert (
        repr(run_of("t", "bleu", failed={"m/1": "no file", "m/2": "no file"}))
        == "<run of t|seed:0: 1 results, 2 failed>"
    )


def test_several_runs_become_one():
    one = run_of("one", "bleu", "cider", failed={"m/a": "no file"}, notes=["first"])
    two = run_of("two", "rouge", failed={"m/b": "too long"}, notes=["second", "third"])
    assert merge_runs([one]) is one
    whole = merge_runs([one, two])
    assert [record.metric for record in whole.records] == ["bleu", "cider", "rouge"]
    assert (whole.failed, whole.notes) == (
        {"m/a": "no file", "m/b": "too long"},
        ["first", "second", "third"],
    )
    assert whole.manifest == {"suite": [one.manifest, two.manifest]}
    assert repr(whole) == "<run of a suite: 3 results, 2 failed>"
    assert len(whole.samples) == 0
    assert repr(merge_runs([])) == "<run of a suite: 0 results, 0 failed>"


def test_statistics_of_several_shards_are_joined_in_their_order(project):
    runs = [
        harness.api.evaluate_all("spec.yaml", options=Options(shard_size=size))[0]
        for size in (None, 4)
    ]
    whole, parts = (run.statistics(run.records[0]).tolist() for run in runs)
    assert whole == parts and len(parts) == 6
    assert runs[0].statistics(ResultRecord(model="echo", metric="length")) is None


def test_a_notebook_shows_a_run_and_its_chart(project):
    run = harness.evaluate(
        "spec.yaml",
        models=[
            {"echo": {"n": 1, "label": "short"}},
            {"echo": {"n": 3, "label": "long"}},
        ],
    )
    assert "length" in run._repr_html_()
    pytest.importorskip("altair")
    assert run.chart().to_dict()


@pytest.mark.parametrize("file", ["manifest.json", "results.json"])
def test_a_newer_schema_is_named_with_its_file(project, file):
    harness.evaluate("spec.yaml", output="r")
    path = project / "r" / file
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 99}))
    with pytest.raises(
        InputError, match=f"{file}: has the schema 99; this version reads schemas up to"
    ):
        Run.open("r")


def test_an_older_schema_is_read(project):
    run = harness.evaluate("spec.yaml", output="r")
    path = project / "r" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 0}))
    assert Run.open("r").results == run.results


def test_events_are_those_of_the_log(project):
    assert harness.evaluate("spec.yaml").log_events == []
    events = harness.evaluate("spec.yaml", output="r").log_events
    assert [event["event"] for event in events][:: len(events) - 1] == [
        "started",
        "finished",
    ]
