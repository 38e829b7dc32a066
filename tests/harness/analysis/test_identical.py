"""Equality of two runs, digit by digit."""

from __future__ import annotations

import harness
from harness.analysis.identical import compare_identical

SPEC = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": ["echo"],
    "metrics": ["length"],
    "bootstrap": {"samples": 20},
}


def test_runs_are_compared_field_by_field(project):
    harness.evaluate(SPEC, output="a")
    harness.evaluate(SPEC, output="b")
    same = compare_identical("a", "b")
    assert (same.differences, same.numbers, same.scores) == ((), 1, 6)
    harness.evaluate({**SPEC, "models": [{"echo": {"n": 3}}]}, output="c")
    other = compare_identical("a", "c").differences
    assert any(
        line.startswith("echo, length: value: a ") and ", c " in line for line in other
    )
    assert "samples: the column 'length' differs" in other
    harness.evaluate({**SPEC, "metrics": ["length", "rouge"]}, output="d")
    assert any(
        line.startswith("echo, rouge: value: a 'missing', d ")
        for line in compare_identical("a", "d").differences
    )
    assert (
        "samples: only one run has the column 'rouge'"
        in compare_identical("a", "d").differences
    )


def test_the_command(project, capsys):
    from harness.cli.main import main

    harness.evaluate(SPEC, output="a")
    harness.evaluate({**SPEC, "models": [{"echo": {"n": 3}}]}, output="c")
    assert main(["compare", "a", "a", "--identical"]) == 0
    assert "identical: 1 results and 6 numbers per example" in capsys.readouterr().out
    assert main(["compare", "a", "c", "--identical"]) == 1
    assert main(["compare", "a", "--identical"]) == 2
