"""``harness power``: sizes beyond the pilot are accepted, marked and explained."""

from __future__ import annotations

import itertools
import json

import pytest

import harness
from harness.analysis.power import Estimate
from harness.cli.main import main
from harness.cli.power import _estimate_text, _geometric

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 20},
    "models": ["echo"],
    "decoding": {"candidates": 4},
    "metrics": ["length"],
}


@pytest.fixture
def pilot(project) -> str:
    harness.evaluate(SPEC, output="pilot")
    return "pilot"


def test_json_marks_extrapolated_sizes_and_has_intervals(pilot, capsys):
    assert main(["power", pilot, "--candidates", "4,8", "--examples", "20,40", "--target-p", "0.0001", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    marks = [(size["n"], size["examples"], size["extrapolated"]) for size in result["sizes"]]
    assert marks == [(4, 20, False), (4, 40, True), (8, 20, True), (8, 40, True)]
    assert all(size["p_low"] <= size["p_high"] and size["power_low"] <= size["power_high"] for size in result["sizes"])
    (row,) = result["needed"]
    assert row["needed"] is None
    assert [item["axis"] for item in row["estimates"]] == ["examples", "candidates", "references"]
    assert all(item["extrapolated"] and {"value", "low", "high", "limit"} <= item.keys() for item in row["estimates"])


def test_the_table_marks_extrapolated_rows(pilot, capsys):
    assert main(["power", pilot, "--candidates", "4", "--examples", "20,40", "--target-p", "0.0001"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[2:4]] == ["pilot", "extrapolated"]
    assert any("95 % interval of simulated runs" in line for line in lines)
    assert any("not reached within the pilot (4 candidates, 2 references, 20 examples" in line for line in lines)
    assert sum("estimated: " in line and "extrapolated" in line for line in lines) == 3


def test_a_target_within_the_pilot_is_reached_without_estimates(pilot, capsys):
    assert main(["power", pilot, "--target-p", "1"]) == 0
    output = capsys.readouterr().out
    assert "p <= 1: reached with 1 candidates and 2 references (20 examples)" in output
    assert "extrapolated" not in output


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1200, 300, 4000, "estimated: 1,200 examples (95 % interval 300 to 4,000; extrapolated)"),
        (1200, 300, None, "estimated: 1,200 examples (95 % interval 300 to more than 5,000; extrapolated)"),
        (None, 300, None, "estimated: more than 5,000 examples (95 % interval 300 to more than 5,000; extrapolated)"),
        (None, None, None, "estimated: more than 5,000 examples (95 % interval entirely beyond it; extrapolated)"),
    ],
)
def test_text_of_an_estimate(value, low, high, text):
    estimate = Estimate("examples", value, low, high, 5000, n=4, m=5, examples=50)
    assert _estimate_text(estimate) == f"{text} with 4 candidates and 5 references"


def test_long_ranges_are_cut_to_geometric_steps():
    assert _geometric([5, 3]) == [5, 3]
    values = _geometric(list(range(50, 1001)))
    assert values is not None
    assert len(values) == 10 and (values[0], values[-1]) == (50, 1000)
    ratios = [b / a for a, b in itertools.pairwise(values)]
    assert max(ratios) < 1.1 * min(ratios)
