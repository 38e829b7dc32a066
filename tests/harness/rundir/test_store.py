"""The run directory: atomic writes, locks, JSON without NaN."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.rundir.store import Store, read_run, to_json, write_atomically

MANIFEST = {"task": "t", "digest": "abc"}


def test_nothing_half_written_is_left_when_writing_fails(tmp_path, monkeypatch):
    file = tmp_path / "x.json"
    write_atomically(file, b"old")

    def no_rename(*names):
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
    }
    text = to_json(value).decode("utf-8")
    back = json.loads(text)
    assert back["a"] is None
    assert (back["b"], back["c"], back["d"], back["e"]) == ("inf", 0.1, [0, 1], "\u202e\U0001f600")


def test_two_processes_cannot_write_one_run(tmp_path):
    first = Store(tmp_path / "r")
    first.open(MANIFEST, "auto")
    with pytest.raises(HarnessError, match="another process is writing this run"):
        Store(tmp_path / "r").open(MANIFEST, "auto")
    first.close()
    second = Store(tmp_path / "r")
    assert second.open(MANIFEST, "auto") is True
    second.close()


def test_shards_and_arrays_come_back_as_they_went(tmp_path):
    store = Store(tmp_path / "r")
    unit = Store.unit("a model/with: odd name", {"x": 1})
    assert store.read_shard(unit, 0) is None
    store.write_shard(unit, 0, [{"candidates": ["caf\u00e9 \ud800"]}])
    assert store.read_shard(unit, 0) == [{"candidates": ["caf\u00e9 \ud800"]}]
    store.write_arrays(unit, {"stats": np.array([[1.5], [np.nan]]), "method": "exact"})
    arrays = store.read_arrays(unit)
    assert arrays is not None
    assert np.array_equal(arrays["stats"], [[1.5], [np.nan]], equal_nan=True)
    assert str(arrays["method"]) == "exact"
    assert Store.unit("m", 1) != Store.unit("m", 2)


def test_a_run_that_is_not_whole_says_so(tmp_path):
    with pytest.raises(InputError, match=r"has no manifest\.json: no run here"):
        read_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"has no results\.json: the run has not finished; continue it with --resume"):
        read_run(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        read_run(tmp_path)


def test_a_file_or_a_broken_manifest_in_the_way_is_named(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match="is a file; expected a folder"):
        Store(tmp_path / "f").open(MANIFEST, "auto")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "manifest.json").write_text("nonsense")
    with pytest.raises(InputError, match="is no manifest of a run"):
        Store(tmp_path / "r").open(MANIFEST, "auto")
