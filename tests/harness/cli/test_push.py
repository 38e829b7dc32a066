"""``harness push``: a run as a data set in a folder."""

from __future__ import annotations

import argparse

import pytest

import harness
from harness.cli import push as command
from harness.errors import HarnessError, InputError
from tests.support.small_run import folder, spec

__all__ = ["folder", "spec"]


def call(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


@pytest.fixture
def run(folder, spec):
    harness.evaluate(spec, output="runs/r")
    return folder


def test_a_folder(run, capsys):
    capsys.readouterr()
    assert (
        call(
            "runs/r",
            "--to",
            "out",
            "--title",
            "My run",
            "--license",
            "mit",
            "--language",
            "en",
        )
        == 0
    )
    assert capsys.readouterr().out == "out\n"
    text = (run / "out" / "README.md").read_text()
    assert (
        "pretty_name: My run" in text
        and "license: mit" in text
        and "language:\n- en" in text
    )
    with pytest.raises(
        InputError,
        match="^out: holds an earlier push; overwrite=True replaces its files$",
    ):
        call("runs/r", "--to", "out")
    assert call("runs", "--to", "out", "--overwrite", "--without-references") == 0


def test_mistakes(run):
    with pytest.raises(HarnessError, match=r"^no target: give a folder \(to='DIR'\)"):
        call("runs/r")
    with pytest.raises(
        HarnessError, match="nowhere: has no manifest.json: no run here"
    ):
        call("nowhere", "--to", "out")
