"""harness rescore."""

from __future__ import annotations

import json
from pathlib import Path

from harness.cli.main import main


def test_metrics_are_added(project, capsys):
    assert main(["run", "spec.yaml", "--output", "r", "--json"]) == 0
    capsys.readouterr()
    assert main(["rescore", "r", "-m", "rouge", "--json"]) == 0
    assert [
        item["metric"] for item in json.loads(capsys.readouterr().out)["results"]
    ] == ["length", "rouge"]
    before = Path("r/results.json").read_bytes()
    assert main(["rescore", "r", "-m", "rouge", "--json"]) == 0, (
        "the same command again has nothing to do"
    )
    assert [
        item["metric"] for item in json.loads(capsys.readouterr().out)["results"]
    ] == ["length", "rouge"]
    assert Path("r/results.json").read_bytes() == before
    assert main(["rescore", "none", "-m", "rouge"]) == 2
