"""What paths name: equal for equal content, wherever it lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.spec import path_contents
from harness.spec.path_contents import (
    component_with_contents,
    content_of,
    list_paths,
    with_contents,
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_of_one_content_are_equal_but_for_their_form(folder):
    (folder / "deep").mkdir()
    for name, text in {
        "a.json": "{}",
        "deep/b.JSON": "{}",
        "c.csv": "{}",
        "d.json": "[]",
        "e.csv.gz": "{}",
    }.items():
        Path(name).write_text(text)
    assert content_of("a.json") == content_of(str(folder / "deep" / "b.JSON"))
    assert (
        len({content_of(name) for name in ("a.json", "c.csv", "d.json", "e.csv.gz")})
        == 4
    )
    assert content_of("e.csv.gz").endswith(".csv.gz")


def test_a_file_that_changes_is_read_again():
    Path("a.txt").write_text("one")
    before = content_of("a.txt")
    Path("a.txt").write_text("two")
    os.utime("a.txt", ns=(1, 1))
    assert content_of("a.txt") != before


@pytest.mark.parametrize("place", [0, 50, 99])
def test_a_large_file_is_its_size_beginning_and_end(monkeypatch, place):
    monkeypatch.setattr(path_contents, "WHOLE_BYTES", 50)
    monkeypatch.setattr(path_contents, "_END_BYTES", 10)
    data = bytearray(100)
    Path("a.bin").write_bytes(data)
    data[place] = 1
    Path("b.bin").write_bytes(data)
    Path("c.bin").write_bytes(bytes(101))
    assert (content_of("a.bin") == content_of("b.bin")) == (place == 50)
    assert content_of("a.bin") != content_of("c.bin")


def test_a_folder_is_the_names_and_sizes_of_its_media():
    for name in ("one", "two"):
        Path(name, "in").mkdir(parents=True)
        Path(name, "in", "1.png").write_bytes(b"1234")
    first = content_of("one")
    assert content_of("two") == first
    Path("two", "results.json").write_text("{}")
    Path("two", ".cache").mkdir()
    Path("two", ".cache", "1.png").write_bytes(b"")
    Path("two", "runs", "a", "scores").mkdir(parents=True)
    Path("two", "runs", "a", "manifest.json").write_text("{}")
    Path("two", "runs", "a", "scores", "x.npz").write_bytes(b"1")
    assert content_of("two") == first, "texts, hidden files and runs may come and go"
    Path("two", "in", "1.png").write_bytes(b"12345")
    assert content_of("two") != first
    Path("one", "in", "1.png").rename(Path("one", "in", "2.png"))
    assert content_of("one") != first


def test_what_is_no_file_is_its_text():
    os.mkfifo("pipe")
    assert content_of("pipe") == "pipe"
    spec = {
        "dataset": {"reader": "hf", "path": "owner/name"},
        "models": [{"predictions": {"path": "missing.json"}}],
        "metrics": ["bleu"],
    }
    assert list_paths(spec) == []
    assert with_contents(spec) == spec


def test_paths_at_any_depth_are_found_in_the_order_of_the_spec():
    for name in ("r.json", "p.json", "q.json", "t.npz"):
        Path(name).write_text(name)
    spec = {
        "task": "r.json",
        "dataset": {"reader": "auto", "path": ["r.json"]},
        "models": [{"predictions": {"path": ["p.json", "q.json"], "label": "p.json"}}],
        "metrics": ["bleu", {"trm": {"distance": {"cider": {"df": "t.npz"}}}}],
    }
    assert list_paths(spec) == [
        ("dataset", "path", 0),
        ("models", 0, "predictions", "path", 0),
        ("models", 0, "predictions", "path", 1),
        ("metrics", 1, "trm", "distance", "cider", "df"),
    ]
    changed = with_contents(spec)
    assert changed["task"] == "r.json"
    assert changed["metrics"][1]["trm"]["distance"]["cider"]["df"] == content_of(
        "t.npz"
    )
    assert spec["dataset"]["path"] == ["r.json"], "the spec itself stays"
    assert component_with_contents(
        "metrics", "trm", {"distance": {"cider": {"df": "t.npz"}}, "n": 2}
    ) == {
        "distance": {"cider": {"df": content_of("t.npz")}},
        "n": 2,
    }
