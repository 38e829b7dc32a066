"""Paths of a manifest, relative to the run directory and to the working folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.rundir.stored_paths import (
    PATHS,
    StoredPath,
    contents_of,
    list_stored_paths,
    resolve_paths,
    store_paths,
    with_stored_contents,
)

MANIFEST = {
    "spec": {
        "dataset": {"path": "data/r.json"},
        "models": [{"m": {"path": "~/p.json"}}],
    },
    "metrics": [{"label": "b", "params": {"df": "/d.npz"}}],
    "paths": [
        {
            "at": ["spec", "dataset", "path"],
            "content": "file:1",
            "given": "data/r.json",
        },
        {
            "at": ["spec", "models", 0, "m", "path"],
            "content": "file:2",
            "given": "~/p.json",
        },
        {"at": ["metrics", 0, "params", "df"], "content": "file:4", "given": "/d.npz"},
    ],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "r.json").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("run", "stored"),
    [
        ("out", "../data/r.json"),
        ("runs/a/b", "../../../data/r.json"),
        ("data", "r.json"),
    ],
)
def test_relative_paths_are_relative_to_the_directory_on_disk(
    folder, monkeypatch, run, stored
):
    written = store_paths(MANIFEST, Path(run))
    assert written["spec"]["dataset"]["path"] == stored
    assert written["spec"]["models"][0]["m"]["path"] == "~/p.json"
    assert written["metrics"][0]["params"]["df"] == "/d.npz"
    assert resolve_paths(written, Path(run)) == MANIFEST
    assert resolve_paths(written, folder / run) == MANIFEST, (
        "as it was given, however the directory is named"
    )
    assert MANIFEST["spec"]["dataset"]["path"] == "data/r.json"
    (folder / "other").mkdir()
    (folder / run).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder / "other")
    assert (
        resolve_paths(written, Path("..", run))["spec"]["dataset"]["path"]
        == "../data/r.json"
    )


def test_a_directory_that_was_copied_without_its_data_has_the_paths_that_were_given(
    folder,
):
    written = store_paths(MANIFEST, Path("runs/a"))
    assert resolve_paths(written, folder / "else" / "where" / "a") == MANIFEST


def test_a_folder_behind_a_link_is_found(folder):
    (folder / "far" / "runs").mkdir(parents=True)
    (folder / "far" / "r.json").touch()
    (folder / "runs").symlink_to(folder / "far" / "runs")
    content = {
        "spec": {"path": "runs/../r.json"},
        "paths": [{"at": ["spec", "path"], "content": "", "given": "gone.json"}],
    }
    written = store_paths(content, Path("runs/a"))
    assert written["spec"]["path"] == "../../r.json"
    (folder / "runs" / "a").mkdir()
    assert Path(resolve_paths(written, Path("runs/a"))["spec"]["path"]).samefile(
        "far/r.json"
    )


def test_contents_stand_for_paths():
    assert contents_of(MANIFEST)["spec", "dataset", "path"] == "file:1"
    assert with_stored_contents(MANIFEST)["metrics"][0]["params"]["df"] == "file:4"
    assert "paths" not in with_stored_contents(MANIFEST)
    assert [path.to_dict() for path in list_stored_paths(MANIFEST)] == MANIFEST["paths"]
    assert list_stored_paths(MANIFEST)[0] == StoredPath(
        ("spec", "dataset", "path"), "file:1", "data/r.json"
    )


def test_a_manifest_of_an_earlier_form_stays():
    assert contents_of({}) == {}
    assert store_paths({"spec": {"path": "a"}}, Path("out")) == {"spec": {"path": "a"}}
    assert resolve_paths({"spec": {"path": "a"}}, Path("out")) == {
        "spec": {"path": "a"}
    }


@pytest.mark.parametrize(
    "at",
    [["spec", "x"], ["models", 7], ["spec", "dataset", "path", "deep"], ["spec"], []],
)
def test_a_list_that_does_not_fit_is_refused(at):
    with pytest.raises(InputError, match="is no text of the manifest; it is damaged"):
        resolve_paths(
            {**MANIFEST, "paths": [{"at": at, "content": "", "given": ""}]}, Path("out")
        )


@pytest.mark.parametrize(
    "listed",
    [
        3,
        "spec",
        [3],
        [{"at": ["task"], "content": "x"}],
        [{"at": 5, "content": "x", "given": "x"}],
        {"at": 1},
    ],
)
def test_a_damaged_list_is_one_line(tmp_path, listed):
    with pytest.raises(
        InputError,
        match="paths: no list of 'at', 'content' and 'given'; it is damaged: "
        "run the spec again",
    ):
        resolve_paths({"task": "a", PATHS: listed}, tmp_path)
