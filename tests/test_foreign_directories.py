"""Directories that somebody else made, under every verb: what a verb has not named as
its output stays as it is, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.cli.main import VERBS
from harness.files.outputs import OUTPUTS
from harness.registry import current
from tests.support.verbs import ARGUMENTS, CAPTIONS, run_verb, write_inputs

SPEC = {
    "task": "sample",
    "dataset": {"reader": "coco", "path": str(CAPTIONS)},
    "references": 5,
    "limit": 6,
    "models": [
        {"human": {"label": "people", "held_out": 5}},
        {"shuffled": {"label": "other", "n": 5}},
    ],
    "metrics": ["bleu1", "rouge"],
    "bootstrap": {"samples": 20},
}
KEPT = "comparisons.json"
WRITES_INTO_A_RUN = {
    "compare": {KEPT},
    "power": {KEPT},
    "push": {KEPT},
    "report": {"report.html", OUTPUTS, KEPT},
    "rescore": {"*"},
    "run": {"*"},
}
"""Verb -> files that it may write into the directory of a run, where it computes and
keeps tests; ``*``: it continues the run.
"""


def write_commit(folder: Path, moved: object, removed: object) -> None:
    (folder / "commit.json").write_text(
        json.dumps({"moved": moved, "removed": removed})
    )


def fill(folder: Path) -> None:
    """Write what people have in their folders: sources, notes, a repository."""
    for name in ("src", ".git", "scores"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "mine").write_text("mine")
    (folder / "notes.txt").write_text("mine")


def old_commit(folder: Path) -> None:
    fill(folder)
    write_commit(folder, [], ["src", ".git"])


def foreign_commit(folder: Path) -> None:
    fill(folder)
    write_commit(folder, {}, ["src", ".git"])


def commit_without_a_run(folder: Path) -> None:
    fill(folder)
    write_commit(folder, {}, ["scores"])


def overwriting_commit(folder: Path) -> None:
    fill(folder)
    (folder / ".next").mkdir()
    (folder / ".next" / "notes.txt").write_text("theirs")
    stamp = {"size": 6, "sha256": hashlib.sha256(b"theirs").hexdigest()}
    write_commit(folder, {"notes.txt": stamp}, [])


def commit_outside(folder: Path) -> None:
    fill(folder)
    write_commit(folder, {"../beside.txt": None}, ["../beside.txt"])


def link_to_a_folder(folder: Path) -> None:
    fill(folder)
    (folder / ".next").symlink_to(folder.parent / "beside")
    write_commit(
        folder,
        {"results.json": {"size": 4, "sha256": hashlib.sha256(b"mine").hexdigest()}},
        [],
    )


def pipe(folder: Path) -> None:
    fill(folder)
    os.mkfifo(folder / "commit.json")


NO_RUNS = (
    old_commit,
    foreign_commit,
    commit_without_a_run,
    overwriting_commit,
    commit_outside,
    link_to_a_folder,
    pipe,
)


def digest(folder: Path) -> dict[str, str]:
    """Return path -> kind and content of everything below a folder."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            content = f"link to {os.readlink(path)}"
        else:
            content = (
                hashlib.sha256(path.read_bytes()).hexdigest()
                if path.is_file()
                else f"mode {path.lstat().st_mode:o}"
            )
        found[str(path.relative_to(folder))] = content
    return found


@pytest.fixture
def place(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder with the foreign directory ``found`` and what lies beside it; the
    current directory is another one.
    """
    work = tmp_path / "work"
    parent = tmp_path / "parent"
    (parent / "found").mkdir(parents=True)
    (parent / "beside").mkdir()
    (parent / "beside" / "results.json").write_text("mine")
    (parent / "beside.txt").write_text("mine")
    work.mkdir()
    write_inputs(work, json.dumps(SPEC))
    monkeypatch.chdir(work)
    yield parent
    for file in parent.rglob("*"):
        if not file.is_symlink() and file.is_fifo():
            file.unlink()


def test_every_verb_has_arguments_here():
    shown = {*VERBS, *(entry.name for entry in current().entries("commands"))} - {
        "inspect"
    }
    assert shown == set(ARGUMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("verb", sorted(ARGUMENTS))
def test_no_verb_changes_a_directory_that_is_no_run(verb, place):
    for make in NO_RUNS:
        found = place / "found"
        shutil.rmtree(found)
        found.mkdir()
        make(found)
        before = digest(place)
        assert run_verb(verb, found) in (0, 1, 2, 4), make.__name__
        assert digest(place) == before, make.__name__
        shutil.rmtree("out", ignore_errors=True)


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """A finished run whose last commit was cut off after its rename."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    harness.evaluate(SPEC, output=folder)
    (folder / KEPT).unlink(missing_ok=True)
    data = (folder / "results.json").read_bytes()
    (folder / ".next").mkdir()
    (folder / "results.json").rename(folder / ".next" / "results.json")
    (folder / "results.json").write_text("{}")
    write_commit(
        folder,
        {
            "results.json": {
                "size": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        },
        ["comparisons.json"],
    )
    return folder


@pytest.mark.parametrize("verb", sorted(set(ARGUMENTS) - {"new-plugin"}))
def test_a_verb_changes_nothing_of_a_run_but_the_files_that_it_names(
    verb, place, finished
):
    found = place / "found"
    shutil.rmtree(found)
    shutil.copytree(finished, found)
    (found / "notes.txt").write_text("mine")
    before = digest(place)
    assert run_verb(verb, found) in (0, 1, 2, 4)
    after = digest(place)
    changed = {
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }
    allowed = WRITES_INTO_A_RUN.get(verb, set())
    if allowed:
        assert not (found / "commit.json").exists()
        allowed = allowed | {"commit.json", ".next", "results.json", ".lock"}
    names = {
        Path(name).relative_to("found").parts[0]
        for name in changed
        if name.startswith("found/")
    }
    assert names <= allowed or "*" in allowed
    assert (found / "notes.txt").read_text() == "mine"
    assert {name for name in changed if not name.startswith("found/")} == set()


@pytest.mark.parametrize(
    "verb", ["compare", "correlate", "export", "label-plan", "report"]
)
def test_a_run_whose_commit_was_cut_off_is_read_as_if_it_had_been_carried_out(
    verb, place, finished
):
    found = place / "found"
    shutil.rmtree(found)
    shutil.copytree(finished, found)
    assert run_verb(verb, found) == 0
