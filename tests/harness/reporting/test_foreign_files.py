"""Runs as files of other programs, and as baselines of a gate."""

from __future__ import annotations

import pytest

from harness.cli.main import main
from harness.files.outputs import OUTPUTS
from tests.support.exported_runs import write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of two systems with a mean and a corpus metric, and its references."""
    return write_run(tmp_path_factory.mktemp("run"))


def test_a_baseline_is_what_a_gate_reads(folder, tmp_path):
    assert (
        main(
            [
                "export",
                str(folder / "run"),
                "--format",
                "baseline",
                "--output",
                str(tmp_path / "b"),
            ]
        )
        == 0
    )
    names = {
        file.relative_to(tmp_path / "b").as_posix()
        for file in (tmp_path / "b").rglob("*")
        if file.is_file()
    }
    scores = {f"scores/{file.name}" for file in (folder / "run" / "scores").iterdir()}
    assert scores and names == {
        "manifest.json",
        "shards.json",
        "results.json",
        "samples.parquet",
        OUTPUTS,
        *scores,
    }
    for name in names - {OUTPUTS}:
        assert (tmp_path / "b" / name).read_bytes() == (
            folder / "run" / name
        ).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "lm-evl"],
            "no format 'lm-evl'; did you mean 'lm-eval'?; formats are lm-eval, coco, "
            "vdtk, activitynet, events, every-eval-ever, hf-eval-results",
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
