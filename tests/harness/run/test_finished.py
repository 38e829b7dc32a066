"""A finished run in memory and from its directory."""

from __future__ import annotations

import pytest

import harness
import harness.api
from harness.errors import InputError
from harness.run.execute import Options
from harness.run.finished import Run


def test_a_run_of_a_directory_equals_the_run_in_memory(project):
    run = harness.evaluate("spec.yaml", output="r")
    again = Run.open("r")
    assert again.results == run.results
    assert again.manifest == run.manifest
    assert again.samples.to_dict() == run.samples.to_dict()
    assert (again.failed, list(again.notes), str(again.path)) == ({}, [], "r")
    assert repr(again) == "<run of words|m:2|seed:0|harness:0.1.0: 1 results, 0 failed>"


def test_statistics_of_which_a_shard_is_missing_are_none(project):
    run = harness.api.evaluate_all("spec.yaml", output=project / "r", options=Options(shard_size=2))[0]
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
