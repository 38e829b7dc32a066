"""Files of the run directory: atomic writing, JSON without NaN."""

from __future__ import annotations

import hashlib
import json
import os
import shutil

import numpy as np
import pytest

from harness.errors import InputError
from harness.rundir.format import (
    file_digest,
    plain,
    read_json_object,
    read_object,
    run_folders,
    to_json,
    write_atomically,
    write_suite,
)
from harness.rundir.run_folder import RunFolder


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch):
    file = tmp_path / "x.json"
    write_atomically(file, b"old")

    def no_rename(*names, **folders):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", no_rename)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_json_has_no_nan_and_keeps_odd_text():
    value = {
        "a": float("nan"),
        "b": float("inf"),
        "c": np.float64(0.1),
        "d": np.arange(2),
        "e": "\u202e\U0001f600",
        "f": "\ud800",
        "g": {"z", "y"},
        "h": -np.inf,
    }
    back = json.loads(to_json(value).decode("utf-8"))
    assert back["a"] is None
    assert (back["b"], back["c"], back["d"], back["e"]) == (
        "inf",
        0.1,
        [0, 1],
        "\u202e\U0001f600",
    )
    assert (back["g"], back["h"]) == (["y", "z"], "-inf")


def test_json_is_readable_text():
    assert (
        to_json({"b": ["é"], "a": None}).decode("utf-8")
        == '{\n "b": [\n  "é"\n ],\n "a": null\n}\n'
    )


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "b.txt").write_bytes(b"1")
    assert file_digest(tmp_path / "b.txt") == hashlib.sha256(b"1").hexdigest()


def test_an_object_that_cannot_be_read_is_none(tmp_path):
    (tmp_path / "x").write_text('{"a": 1}')
    (tmp_path / "list").write_text("[1]")
    (tmp_path / "torn").write_text('{"a"')
    (tmp_path / "link").symlink_to("x")
    folder = RunFolder(tmp_path)
    assert read_object(folder, "x") == {"a": 1}
    assert [read_object(folder, name) for name in ("list", "torn", "link", "none")] == [
        None
    ] * 4


def test_plain_values_are_json_types():
    assert plain({1: (np.int64(2), None), "p": object}) == {
        "1": [2, None],
        "p": str(object),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not valid JSON"), ("[1]", "expected a JSON object; found list")],
)
def test_anything_but_an_object_is_refused(tmp_path, text, message):
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match=message):
        read_json_object(tmp_path / "x")


def test_run_folders(tmp_path):
    for name in ("b/deep", "a"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text("{}")
    assert run_folders(tmp_path / "a") == ([tmp_path / "a"], [])
    assert run_folders(tmp_path) == ([tmp_path / "a", tmp_path / "b/deep"], [])
    (tmp_path / "a/inner").mkdir()
    (tmp_path / "a/inner/manifest.json").write_text("{}")
    assert run_folders(tmp_path / "a") == ([tmp_path / "a"], []), (
        "a run that others stand in"
    )
    shutil.rmtree(tmp_path / "a/inner")
    assert run_folders(tmp_path / "nothing") == ([tmp_path / "nothing"], [])
    write_suite(tmp_path, ["b/deep", "a"], {"t": "t: not there: f"})
    assert json.loads((tmp_path / "suite.json").read_text()) == {
        "runs": ["b/deep", "a"],
        "absent": {"t": "t: not there: f"},
    }
    assert run_folders(tmp_path) == ([tmp_path / "b/deep", tmp_path / "a"], ["t"])
