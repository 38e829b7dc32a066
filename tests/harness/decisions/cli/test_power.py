"""``harness power``: sizes beyond the pilot are accepted, marked and explained."""

from __future__ import annotations

import itertools
import json

import pytest

import harness
from harness.cli.main import main
from harness.decisions.power.estimates import Estimate
from harness.decisions.power.tables import estimate_text
from harness.decisions.power.verb import _geometric

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 20},
    "models": ["echo"],
    "decoding": {"candidates": 4},
    "metrics": [{"length": {"level": "set"}}],
}


@pytest.fixture
def pilot(project) -> str:
    harness.evaluate(SPEC, output="pilot")
    return "pilot"


@pytest.mark.slow
def test_json_marks_extrapolated_sizes_and_has_intervals(pilot, capsys):
    options = ["--candidates", "4,8", "--examples", "20,40", "--json"]
    assert main(["power", pilot, *options]) == 0
    result = json.loads(capsys.readouterr().out)
    marks = [
        (size["n"], size["examples"], size["extrapolated"]) for size in result["sizes"]
    ]
    assert marks == [(4, 20, False), (4, 40, True), (8, 20, True), (8, 40, True)]
    for size in result["sizes"]:
        assert all(
            size[f"{name}_low"] <= size[name] <= size[f"{name}_high"]
            for name in ("power", "share")
        )
        assert size["p_low"] <= size["p_high"]
    (row,) = result["needed"]
    assert row["needed"] is None
    assert [item["axis"] for item in row["estimates"]] == [
        "examples",
        "candidates",
        "references",
    ]
    assert all(
        item["extrapolated"] and {"value", "low", "high", "limit"} <= item.keys()
        for item in row["estimates"]
    )


@pytest.mark.slow
def test_the_table_marks_extrapolated_rows(pilot, capsys):
    assert main(["power", pilot, "--candidates", "4", "--examples", "20,40"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[2:4]] == ["pilot", "extrapolated"]
    assert any("in extrapolated rows 95 % of simulated runs" in line for line in lines)
    assert any(
        "power 0.8 is not reached within the pilot (4 candidates, 2 references, "
        "20 examples" in v
        for v in lines
    )
    assert (
        sum(line.startswith("  ") and "(extrapolated)" in line for line in lines) == 3
    )


def test_a_target_within_the_pilot_is_reached_without_estimates(pilot, capsys):
    assert main(["power", pilot, "--target-p", "1"]) == 0
    output = capsys.readouterr().out
    assert (
        "power 0.8 is reached with 1 candidate and 2 references (20 examples)" in output
    )
    assert "extrapolated" not in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--candidates", "100"],
            "--candidates has 100; expected at most 20, "
            "5 times those of the pilot of model 'echo'",
        ),
        (
            ["--examples", "x"],
            "--examples: expected numbers such as 1..5 or 1,2,5; found 'x'",
        ),
        (
            ["--combine", "harmonic-meen"],
            "no combination 'harmonic-meen'; did you mean 'harmonic-mean'?",
        ),
        (["--power", "1.5"], "--power is 1.5; expected more than 0 and at most 1"),
        (["--share", "0"], "--share is 0; expected more than 0 and at most 1"),
        (
            ["--limit", "5", "--examples", "50"],
            "the pilot has 5 examples with p-values; sizes beyond it need at least 10",
        ),
    ],
)
def test_mistakes_are_one_line(pilot, capsys, options, message):
    assert main(["power", pilot, *options]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (
            1200,
            300,
            4000,
            "1,150 more examples (95 % interval 250-3,950) for power 0.8",
        ),
        (
            1200,
            40,
            None,
            "1,150 more examples (95 % interval 0 to more than 4,950) for power 0.8",
        ),
        (
            None,
            300,
            None,
            "power 0.8 cannot be reached within 5,000 examples, "
            "100 times the pilot's, by the best estimate "
            "(95 % interval 250 to more than 4,950 more)",
        ),
        (
            None,
            None,
            None,
            "power 0.8 cannot be reached within 5,000 examples, 100 times the pilot's",
        ),
    ],
)
def test_text_of_an_estimate(value, low, high, text):
    estimate = Estimate("examples", value, low, high, 5000, n=4, m=5, examples=50)
    expected = f"{text}, with 4 candidates and 5 references (extrapolated)"
    assert estimate_text(estimate, "power 0.8") == expected


def test_long_ranges_are_cut_to_geometric_steps():
    assert _geometric([5, 3]) == [5, 3]
    values = _geometric(list(range(50, 1001)))
    assert values is not None
    assert len(values) == 10 and (values[0], values[-1]) == (50, 1000)
    ratios = [b / a for a, b in itertools.pairwise(values)]
    assert max(ratios) < 1.1 * min(ratios)
