"""A run that dies at any write, rename or removal: the next one ends with the numbers
of an undisturbed run, or is refused.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import InputError
from harness.registry import in_use


class Killed(BaseException):
    """Stands for SIGKILL: no handler of the harness runs its own clean-up writes after
    it.
    """


class Killer:
    """Counts the calls that change the file system; from the given one on,
    every one raises :class:`Killed`.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.calls = 0
        for name in ("unlink", "replace", "mkdir", "rmdir", "fsync"):
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name), at))

    def _wrapped(self, function: Any, at: int) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls > at:
                raise Killed
            return function(*arguments, **options)

        return call


def values(path: Path) -> list[object]:
    """Return the results without their times."""
    records = json.loads((path / "results.json").read_text())["results"]
    return [
        {name: value for name, value in record.items() if name != "seconds"}
        for record in records
    ]


def change_references(project: Path) -> None:
    """Change the data of the reader, as an edited file of references would."""
    code = project / "mine_parts.py"
    code.write_text(
        code.read_text().replace(
            "a dog number {i}", "another animal, which is number {i}"
        )
    )
    sys.modules.pop("mine_parts", None)
    in_use._load.cache_clear()


def evaluate(mode: Any = "auto") -> bool:
    """Run the spec into ``out``; return False when it is refused."""
    try:
        harness.evaluate("spec.yaml", output="out", mode=mode)
    except InputError as error:
        assert "holds another run" in str(error)  # noqa: PT017
        return False
    return True


@pytest.mark.parametrize(
    "mode", ["auto", pytest.param("fresh", marks=pytest.mark.slow)]
)
def test_every_crash_point(project, mode):
    harness.evaluate("spec.yaml", output="old")
    change_references(project)
    harness.evaluate("spec.yaml", output="new")
    for at in range(200):
        shutil.rmtree("out", ignore_errors=True)
        if mode == "fresh":
            shutil.copytree("old", "out")
        with pytest.MonkeyPatch.context() as monkeypatch:
            killer = Killer(monkeypatch, at)
            try:
                evaluate(mode)
                done = True
            except Killed:
                done = False
        if not done and not evaluate():
            assert mode == "fresh", "a new run is never refused"
            assert json.loads(Path("out/manifest.json").read_text())[
                "digest"
            ] == digest("old")
            evaluate("fresh")
        assert values(Path("out")) == values(Path("new")), f"killed at call {at}"
        assert [p.name for p in Path("out").rglob("*.tmp")] == []
        if done:
            assert killer.calls == at
            return
    pytest.fail("the run changes the file system more than 200 times")


def digest(folder: str) -> str:
    return json.loads(Path(folder, "manifest.json").read_text())["digest"]


def test_a_directory_without_a_manifest_is_refused_and_stays_as_it_is(project):
    harness.evaluate("spec.yaml", output="out")
    (project / "out/manifest.json").unlink()
    before = {
        file: file.read_bytes()
        for file in (project / "out").rglob("*")
        if file.is_file()
    }
    change_references(project)
    for mode in ("auto", "fresh"):
        with pytest.raises(
            InputError,
            match="out: is not empty and is no run directory; give another folder",
        ):
            harness.evaluate("spec.yaml", output="out", mode=mode)
    assert {
        file: file.read_bytes()
        for file in (project / "out").rglob("*")
        if file.is_file()
    } == before
