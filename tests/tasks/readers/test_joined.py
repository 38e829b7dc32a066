"""References of several files."""

from __future__ import annotations

import json

import pytest

import harness
from harness.contracts import Example
from harness.errors import InputError
from harness_tasks.readers.auto import AutoReader
from harness_tasks.readers.joined import join_readers

ONE = [Example("a", ("x", "y"), media=None, meta={"k": 1}), Example("b", ("z",))]
OTHER = [Example("b", ("w",), source="s"), Example("a", ("v",), media="a.jpg", meta={"k": 2, "l": 3})]


def test_references_are_joined_by_id_in_the_order_of_the_files():
    expected = [
        Example("a", ("x", "y", "v"), media="a.jpg", meta={"k": 1, "l": 3}),
        Example("b", ("z", "w"), source="s"),
    ]
    assert list(join_readers({"1": ONE, "2": OTHER}, None)) == expected
    assert [example.references for example in join_readers({"1": ONE, "2": OTHER}, 2)] == [("x", "y"), ("z", "w")]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (OTHER[:1], "2: has no references for 1 of 2 examples of 1: 'a'"),
        ([*OTHER, Example("c", ("u",))], "2: has references for 1 examples that are not in 1: 'c'"),
    ],
)
def test_other_ids_are_one_line(other, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        list(join_readers({"1": ONE, "2": other}, None))


def test_the_reader_of_files_joins_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ("1.json", {"a": "x", "b": "z"}),
        ("2.json", {"a": ["y", "v"], "b": ["w"]}),
        ("p.json", {"a": "x", "b": "z"}),
    ):
        (tmp_path / name).write_text(json.dumps(content))
    reader = AutoReader(path=["1.json", "2.json"], limit_references=2)
    assert [example.references for example in reader] == [("x", "y"), ("z", "w")]
    assert reader.describe() == "1.json (mapping), 2.json (mapping)"
    variants = [(["1.json", "2.json"], 2), (["1.json", "2.json"], None), (["2.json", "1.json"], 2), ("1.json", 2)]
    assert len({AutoReader(path=paths, limit_references=limit).fingerprint() for paths, limit in variants}) == 4
    with pytest.raises(InputError, match="expected at least one"):
        AutoReader(path=[])
    scores = harness.score("p.json", ["1.json", "2.json"], "bleu1")
    assert next(iter(scores.values())).value == pytest.approx(1.0)


def test_a_list_of_paths_in_a_spec_lies_beside_the_spec(tmp_path, monkeypatch):
    (tmp_path / "specs").mkdir()
    for name, content in (("1.json", {"a": "x"}), ("2.json", {"a": ["y"]}), ("p.json", {"a": "x"})):
        (tmp_path / "specs" / name).write_text(json.dumps(content))
    (tmp_path / "specs" / "s.yaml").write_text(
        "task: t\ndataset: {reader: auto, path: [1.json, 2.json]}\nmodels: [{predictions: {path: p.json}}]\nmetrics: [bleu1]\n"
        "bootstrap: {samples: 0}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert harness.evaluate("specs/s.yaml").results[0]["sizes"]["references"] == [2]
