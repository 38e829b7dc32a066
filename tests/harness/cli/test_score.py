"""``harness score``: results of two files."""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main


@pytest.fixture
def score(project, capsys):
    """A function that returns exit code, JSON and errors of ``harness score`` on two files."""
    (project / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z"]}))
    (project / "r.json").write_text(json.dumps({"a": ["x", "y"], "b": ["z", "z"], "c": ["w"]}))

    def run(*arguments):
        code = main(["score", "--candidates", "p.json", "--references", "r.json", "--json", *arguments])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else None, captured.err

    return run


def test_several_metrics_with_parameters(score):
    code, data, _ = score("-m", "length", "-m", "length:scale=2", "--allow-missing")
    assert code == 0
    assert [(record["metric"], record["value"], record["n"], record["skipped"]) for record in data["results"]] == [
        ("length", 1.5, 2, 1), ("length[scale=2]", 3.0, 2, 1),
    ]  # fmt: skip
    assert data["failed"] == {}


def test_p_values_limit_and_output(score, project):
    code, data, _ = score("-m", "length", "--p-values", "exact", "--limit", "2", "--output", "r", "--seed", "3")
    assert code == 0
    assert data["results"][0]["p_method"].startswith("exact")
    assert json.loads((project / "r" / "manifest.json").read_text())["seed"] == 3
    assert score("-m", "length", "--limit", "1", "--output", "r")[0] == 2
    assert score("-m", "length", "--limit", "1", "--output", "r", "--fresh")[0] == 0


def test_examples_without_candidates_are_refused(score):
    code, data, error = score("-m", "length")
    assert (code, data) == (2, None)
    assert "'c'" in error


def test_the_table(score, project, capsys):
    assert main(["score", "--candidates", "p.json", "--references", "r.json", "-m", "length", "--allow-missing"]) == 0
    assert "length ↑" in capsys.readouterr().out
