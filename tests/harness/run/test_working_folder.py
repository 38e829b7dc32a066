"""A run is its spec, data and versions: it goes on from any working folder, and where
its folder was moved together with the data.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness.errors import InputError
from harness.run import execute, generate, provenance
from harness.run.plan import make_plan
from harness.run.provenance import digest
from harness.spec.loading import load_specs

SPEC = """\
task: walk
dataset: {reader: auto, path: data/refs.json}
models: [{predictions: {path: data/preds.json}}]
metrics: [rouge, {novelty: {corpus: data/corpus.txt}}]
bootstrap: {samples: 20}
"""
REFERENCES = {f"e{k}": [f"a dog runs number {k}", "the dog runs"] for k in range(3)}
CANDIDATES = {f"e{k}": [f"a dog runs {k}"] for k in range(3)}


def write_project(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "spec.yaml").write_text(SPEC)
    (folder / "data" / "refs.json").write_text(json.dumps(REFERENCES))
    (folder / "data" / "preds.json").write_text(json.dumps(CANDIDATES))
    (folder / "data" / "corpus.txt").write_text("a dog runs 1\n")
    return folder


@pytest.fixture
def walk(tmp_path, monkeypatch):
    """A folder with ``project`` (a spec and its data) and ``other``;
    the former is the working folder.
    """
    write_project(tmp_path / "project")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def state(folder: Path, *names: str) -> dict[str, str]:
    """Return name -> hash of the files of a folder,
    or of those of some of its folders.
    """
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and (not names or file.parent.name in names)
    ]
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def stop_before_results(run: Path) -> None:
    """Bring a finished run into the state of one that was killed before its results."""
    (run / "results.json").unlink()
    (run / "samples.parquet").unlink()


@pytest.mark.slow
def test_the_command_line_goes_on_from_another_folder(tmp_path):
    project = write_project(tmp_path / "project")
    (tmp_path / "other").mkdir()
    first = command("run", "spec.yaml", "--output", "out", "--json", cwd=project)
    assert first.returncode == 0, first.stderr
    finished = state(project / "out")
    again = command(
        "run",
        "../project/spec.yaml",
        "--output",
        "../project/out",
        "--resume",
        "--json",
        cwd=tmp_path / "other",
    )
    assert again.returncode == 0, again.stderr
    assert state(project / "out") == finished, "a finished run is opened, not computed"
    stop_before_results(project / "out")
    parts = state(project / "out", "candidates", "scores")
    assert len(parts) == 3
    resumed = command(
        "run",
        "project/spec.yaml",
        "--output",
        "project/out",
        "--resume",
        "--json",
        cwd=tmp_path,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert state(project / "out", "candidates", "scores") == parts, (
        "captions and statistics are those of the first folder"
    )
    assert [record["value"] for record in json.loads(resumed.stdout)["results"]] == [
        record["value"] for record in json.loads(first.stdout)["results"]
    ]


def test_results_do_not_depend_on_the_working_folder(walk, monkeypatch):
    harness.evaluate("spec.yaml", output="out")
    monkeypatch.chdir(walk / "other")
    harness.evaluate("../project/spec.yaml", output="../project/out2")
    folders = [walk / "project" / name for name in ("out", "out2")]
    manifests = [
        json.loads((folder / "manifest.json").read_text("utf-8")) for folder in folders
    ]
    given = [
        [path.pop("given") for path in manifest["paths"]] for manifest in manifests
    ]
    assert manifests[0] == manifests[1]
    assert manifests[0]["spec"]["dataset"]["path"] == "../data/refs.json"
    assert (
        given[0][0] == "data/refs.json" and given[1][0] == "../project/data/refs.json"
    )
    numbers = [
        json.loads((folder / "results.json").read_text("utf-8"))["results"]
        for folder in folders
    ]
    assert [(record["value"], record["ci95"]) for record in numbers[0]] == [
        (record["value"], record["ci95"]) for record in numbers[1]
    ]


def test_an_opened_run_has_paths_of_the_working_folder(walk, monkeypatch):
    made = harness.evaluate("spec.yaml", output="out")
    assert harness.Run.open("out").results == made.results
    assert harness.Run.open("out").manifest == made.manifest
    monkeypatch.chdir(walk / "other")
    run = harness.Run.open("../project/out")
    assert run.provenance.spec["dataset"]["path"] == "../project/data/refs.json"
    assert [
        Path(entry.params["path"]).is_file() for entry in run.provenance.models
    ] == [True]


def test_a_moved_folder_goes_on_and_takes_another_metric(walk, monkeypatch):
    harness.evaluate("spec.yaml", output="out")
    monkeypatch.chdir(walk)
    os.rename("project", "moved")
    finished = state(walk / "moved" / "out")
    harness.evaluate("moved/spec.yaml", output="moved/out", mode="resume")
    assert state(walk / "moved" / "out") == finished
    answers = state(walk / "moved" / "out", "candidates")
    run = harness.rescore("moved/out", ["bleu1"])
    assert [record.metric for record in run.records] == ["rouge", "novelty", "bleu1"]
    assert state(walk / "moved" / "out", "candidates") == answers


def test_a_copied_run_is_read_through_a_link(walk, monkeypatch):
    harness.evaluate("spec.yaml", output="out")
    (walk / "other" / "deep").mkdir()
    (walk / "other" / "deep" / "link").symlink_to(walk / "project" / "out")
    run = harness.Run.open(walk / "other" / "deep" / "link")
    assert (
        json.loads(Path(run.provenance.spec["dataset"]["path"]).read_text())
        == REFERENCES
    )


@pytest.mark.parametrize(
    ("cwd", "files", "output"),
    [
        (
            "other",
            ["../project/data/preds.json", "../project/data/refs.json"],
            "../project/out",
        ),
        ("project/data", ["preds.json", "refs.json"], "../out"),
        (
            "",
            ["./project/data/preds.json", "project/../project/data/refs.json"],
            "project/out",
        ),
    ],
)
def test_score_goes_on_with_the_paths_of_another_folder(
    walk, monkeypatch, capsys, cwd, files, output
):
    assert (
        main(
            [
                "score",
                "data/preds.json",
                "--references",
                "data/refs.json",
                "-m",
                "rouge",
                "--output",
                "out",
            ]
        )
        == 0
    )
    finished = state(walk / "project" / "out")
    monkeypatch.chdir(walk / cwd)
    assert (
        main(
            [
                "score",
                files[0],
                "--references",
                files[1],
                "-m",
                "rouge",
                "--output",
                output,
            ]
        )
        == 0
    )
    assert state(walk / "project" / "out") == finished


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("refs.json", {**REFERENCES, "e0": ["a cat sits", "the cat"]}),
        ("preds.json", {**CANDIDATES, "e2": ["a cat"]}),
        ("corpus.txt", "a dog runs 2\n"),
    ],
)
def test_another_file_of_the_same_path_is_another_run(walk, monkeypatch, name, content):
    harness.evaluate("spec.yaml", output="out")
    text = content if isinstance(content, str) else json.dumps(content)
    write_project(walk / "copy")
    (walk / "copy" / "data" / name).write_text(text)
    monkeypatch.chdir(walk / "copy")
    with pytest.raises(InputError, match="holds another run"):
        harness.evaluate("spec.yaml", output=walk / "project" / "out")
    (walk / "copy" / "data" / name).write_bytes(
        (walk / "project" / "data" / name).read_bytes()
    )
    finished = state(walk / "project" / "out")
    harness.evaluate("spec.yaml", output=walk / "project" / "out")
    assert state(walk / "project" / "out") == finished


def test_the_folder_of_the_spec_comes_before_the_working_folder(walk, monkeypatch):
    write_project(walk / "other" / "here")
    (walk / "other" / "here" / "data" / "preds.json").write_text(
        json.dumps({name: ["no"] for name in CANDIDATES})
    )
    (walk / "project" / "base.yaml").write_text(SPEC)
    (walk / "project" / "more.yaml").write_text("include: base.yaml\nseed: 3\n")
    monkeypatch.chdir(walk / "other" / "here")
    (walk / "other" / "here" / "base.yaml").write_text(SPEC.replace("walk", "wrong"))
    assert load_specs("../../project/more.yaml")[0].spec.task == "walk"
    (walk / "project" / "base.yaml").unlink()
    assert load_specs("../../project/more.yaml")[0].spec.task == "wrong", (
        "a file that only the working folder has"
    )
    ours = harness.evaluate("../../project/spec.yaml")
    assert ours.samples.lists("candidates")[0] == ("a dog runs 0",)
    typed = harness.evaluate(
        "../../project/spec.yaml",
        overrides=["models.0.predictions.path=data/preds.json"],
    )
    assert typed.samples.lists("candidates")[0] == ("no",), (
        "a path of the command line is the working folder's"
    )


def test_a_killed_run_whose_manifest_has_paths_as_texts_goes_on(
    walk, monkeypatch, capsys
):
    monkeypatch.setattr(
        execute, "_identity", lambda plan, output: digest(plan, as_given=True)
    )
    monkeypatch.setattr(
        generate, "component_with_contents", lambda kind, name, params: dict(params)
    )
    monkeypatch.setattr(provenance, "list_paths", lambda data: [])
    harness.evaluate("spec.yaml", output="out")
    monkeypatch.undo()
    monkeypatch.chdir(walk / "project")
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    assert manifest.pop("paths") == []
    Path("out/manifest.json").write_text(json.dumps(manifest))
    finished = state(Path("out"))
    harness.evaluate("spec.yaml", output="out")
    assert state(Path("out")) == finished
    stop_before_results(Path("out"))
    monkeypatch.setattr(
        generate, "ask_adapter", lambda *_: pytest.fail("answers are there")
    )
    run = harness.evaluate("spec.yaml", output="out")
    assert run.provenance.digest == manifest["digest"]
    assert run.samples.lists("candidates") == [(f"a dog runs {k}",) for k in range(3)]


def test_a_task_of_judgments_is_the_same_from_another_folder(walk, monkeypatch, golden):
    folder = golden / "run_directories"
    for name in ("judgments.yaml", "judgments.jsonl"):
        shutil.copy(folder / name, walk / "project" / name)
    harness.evaluate("judgments.yaml", output="judged")
    finished = state(Path("judged"))
    monkeypatch.chdir(walk / "other")
    harness.evaluate("../project/judgments.yaml", output="../project/judged")
    assert state(walk / "project" / "judged") == finished


def test_a_baseline_takes_a_metric_with_the_data_of_its_run(walk, monkeypatch, capsys):
    harness.evaluate("spec.yaml", output="out")
    assert (
        main(
            [
                "export",
                "out",
                "--format",
                "baseline",
                "--output",
                "../other/deep/baseline",
            ]
        )
        == 0
    )
    monkeypatch.chdir(walk)
    assert (
        harness.Run.open("other/deep/baseline").provenance.spec["dataset"]["path"]
        == "project/data/refs.json"
    )
    assert [
        record.metric
        for record in harness.rescore("other/deep/baseline", ["bleu1"]).records
    ] == ["rouge", "novelty", "bleu1"]


def test_parts_are_merged_from_another_folder(walk, monkeypatch, capsys):
    for part in (1, 2):
        assert (
            main(
                [
                    "run",
                    "spec.yaml",
                    "--shard",
                    f"{part}/2",
                    "--shard-size",
                    "2",
                    "--output",
                    f"part{part}",
                ]
            )
            == 0
        )
    monkeypatch.chdir(walk)
    os.rename("project", "moved")
    assert main(["merge", "moved/part1", "moved/part2", "--output", "other/whole"]) == 0
    stored = json.loads(Path("other/whole/manifest.json").read_text("utf-8"))["spec"][
        "dataset"
    ]["path"]
    assert stored == "../../moved/data/refs.json"
    assert main(["run", "moved/spec.yaml", "--output", "other/whole", "--resume"]) == 0


def test_labels_of_metrics_have_names_of_files_without_folders(walk, monkeypatch):
    Path("data/more.txt").write_text("a dog runs 0\n")
    spec = SPEC.replace(
        "[rouge, {novelty: {corpus: data/corpus.txt}}]",
        "[{novelty: {corpus: [data/corpus.txt, data/more.txt]}}]",
    )
    Path("two.yaml").write_text(spec)
    monkeypatch.chdir(walk)
    plan = make_plan(load_specs("project/two.yaml")[0])
    assert [metric.label for metric in plan.metrics] == [
        "novelty[corpus=corpus.txt]",
        "novelty[corpus=more.txt]",
    ]
