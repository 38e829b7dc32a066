"""Paths of a manifest, relative to the run directory and to the working folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.rundir.stored_paths import contents_of, resolve_paths, resolve_record, store_paths, store_record, with_stored_contents

MANIFEST = {
    "spec": {"dataset": {"path": "data/r.json"}, "models": [{"m": {"path": "~/p.json"}}]},
    "models": [{"label": "m", "params": {"path": "data/p.json"}}],
    "metrics": [{"label": "b", "params": {"df": "/d.npz"}}, {"label": "c", "params": {}}],
    "paths": [
        {"at": ["spec", "dataset", "path"], "content": "file:1"},
        {"at": ["spec", "models", 0, "m", "path"], "content": "file:2"},
        {"at": ["models", 0, "params", "path"], "content": "file:3"},
        {"at": ["metrics", 0, "params", "df"], "content": "file:4"},
    ],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("r.json", "p.json"):
        (tmp_path / "data" / name).touch()
    return tmp_path


@pytest.mark.parametrize(("run", "stored"), [("out", "../data/r.json"), ("runs/a/b", "../../../data/r.json"), ("data", "r.json")])
def test_relative_paths_are_relative_to_the_directory_on_disk(run, stored):
    written = store_paths(MANIFEST, Path(run))
    assert written["spec"]["dataset"]["path"] == stored
    assert written["spec"]["models"][0]["m"]["path"] == "~/p.json"
    assert written["metrics"][0]["params"]["df"] == "/d.npz"
    assert resolve_paths(written, Path(run)) == MANIFEST
    assert MANIFEST["spec"]["dataset"]["path"] == "data/r.json"


def test_a_folder_behind_a_link_is_found(folder):
    (folder / "far" / "runs").mkdir(parents=True)
    (folder / "far" / "r.json").touch()
    (folder / "runs").symlink_to(folder / "far" / "runs")
    content = {"spec": {"path": "runs/../r.json"}, "paths": [{"at": ["spec", "path"], "content": ""}]}
    written = store_paths(content, Path("runs/a"))
    assert written["spec"]["path"] == "../../r.json"
    (folder / "runs" / "a").mkdir()
    assert Path(resolve_paths(written, Path("runs/a"))["spec"]["path"]).samefile("far/r.json")


def test_records_have_the_paths_of_their_model_and_metric():
    record = {"model": "m", "metric": "b", "model_params": {"path": "data/p.json"}, "params": {"df": "/d.npz"}, "value": 1.0}
    written = store_record(record, MANIFEST, Path("out"))
    assert written == {**record, "model_params": {"path": "../data/p.json"}}
    assert resolve_record(written, MANIFEST, Path("out")) == record
    other = {"model": "n", "metric": "b(x)", "model_params": {"path": "data/p.json"}, "params": {}}
    assert store_record(other, MANIFEST, Path("out")) == other


def test_contents_stand_for_paths():
    assert contents_of(MANIFEST)["models", 0, "params", "path"] == "file:3"
    assert with_stored_contents(MANIFEST)["metrics"][0]["params"]["df"] == "file:4"
    assert contents_of({}) == {}
    assert store_paths({"spec": {"path": "a"}}, Path("out")) == {"spec": {"path": "a"}}, "an earlier form"


@pytest.mark.parametrize("at", [["spec", "x"], ["models", 7], ["spec", "dataset", "path", "deep"], ["spec"], []])
def test_a_list_that_does_not_fit_is_refused(at):
    with pytest.raises(InputError, match="is no text of the manifest; it is damaged"):
        resolve_paths({**MANIFEST, "paths": [{"at": at, "content": ""}]}, Path("out"))
