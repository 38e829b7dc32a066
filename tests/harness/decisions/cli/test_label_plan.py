"""``harness label-plan``: the plan as CSV on stdout or in a file,
and mistakes in one line.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from harness.cli.main import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of one system and 12 examples."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.txt").write_text("a dog runs\n" * 12)
    (tmp_path / "a.txt").write_text("".join("dog " * (k + 1) + "\n" for k in range(12)))
    assert (
        main(
            [
                "score",
                "a.txt",
                "--references",
                "refs.txt",
                "-m",
                "caption-length",
                "--output",
                "run",
            ]
        )
        == 0
    )
    return "run"


def test_the_plan_is_csv_with_an_empty_column_of_scores(run, capsys):
    capsys.readouterr()
    arguments = [
        "label-plan",
        run,
        "--budget",
        "6",
        "--by",
        "caption-length",
        "--strata",
        "3",
    ]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == [
        "id",
        "system",
        "caption",
        "probability",
        "stratum",
        "score",
    ]
    assert [row["stratum"] for row in rows] == [
        "1.0",
        "1.0",
        "5.0",
        "5.0",
        "9.0",
        "9.0",
    ]
    assert {row["probability"] for row in rows} == {"0.5"} and {
        row["score"] for row in rows
    } == {""}
    assert main([*arguments, "-o", "plan.csv"]) == 0
    assert (
        capsys.readouterr().out
        == "plan.csv: 6 examples, 6 captions; fill in the column score\n"
    )
    with open("plan.csv") as file:
        assert file.read() == text


def test_a_plan_that_people_have_filled_in_is_not_replaced(run, capsys):
    arguments = [
        "label-plan",
        run,
        "--budget",
        "6",
        "--by",
        "caption-length",
        "--strata",
        "3",
        "-o",
        "plan.csv",
    ]
    assert main(arguments) == 0
    assert main(arguments) == 0, "the same plan again changes nothing"
    empty = Path("plan.csv").read_text()
    Path("plan.csv").write_text(filled := empty.replace(",\n", ",4\n"))
    capsys.readouterr()
    assert main(arguments) == 2
    expected = (
        "harness: plan.csv: is there already, and was not written by the harness, "
        "or was changed since; give another name, or "
    )
    assert capsys.readouterr().err == f"{expected}--overwrite to replace it\n"
    assert Path("plan.csv").read_text() == filled != empty
    assert main([*arguments, "--overwrite"]) == 0
    assert Path("plan.csv").read_text() == empty


@pytest.mark.parametrize("budget", ["5", "13"])
def test_a_budget_that_does_not_fit_is_one_line(run, capsys, budget):
    capsys.readouterr()
    assert (
        main(
            [
                "label-plan",
                run,
                "--budget",
                budget,
                "--by",
                "caption-length",
                "--strata",
                "3",
            ]
        )
        == 2
    )
    assert (
        f"--budget is {budget}; expected 6, two for each stratum, to 12, all examples"
        in capsys.readouterr().err
    )
