"""``harness push``: a run as a data set in a folder."""

from __future__ import annotations

import pytest

import harness
from harness.cli.main import main

pytest.importorskip("datasets")


@pytest.fixture
def run(project):
    harness.evaluate("spec.yaml", output="runs/r")
    return project


def test_a_folder(run, capsys):
    assert main(["push", "runs/r", "--to", "out", "--title", "My run", "--license", "mit", "--language", "en"]) == 0
    assert capsys.readouterr().out == "out\n"
    text = (run / "out" / "README.md").read_text()
    assert "pretty_name: My run" in text and "license: mit" in text and "language:\n- en" in text
    assert main(["push", "runs/r", "--to", "out"]) == 2
    assert capsys.readouterr().err == "harness: out: holds an earlier push; --overwrite replaces its files\n"
    assert main(["push", "runs", "--to", "out", "--overwrite", "--without-references"]) == 0


def test_mistakes(run, capsys):
    assert main(["push", "runs/r"]) == 2
    assert capsys.readouterr().err.startswith("harness: no target: give a folder (--to DIR)")
    assert main(["push", "nowhere", "--to", "out"]) == 2
    assert "nowhere: has no manifest.json: no run here" in capsys.readouterr().err
    assert main(["push", "runs/r", "--too", "out"]) == 2
    assert "did you mean '--to'?" in capsys.readouterr().err
