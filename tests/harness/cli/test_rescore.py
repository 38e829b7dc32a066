"""harness rescore."""

from __future__ import annotations

import json

from harness.cli.main import main


def test_metrics_are_added(project, capsys):
    assert main(["run", "spec.yaml", "--output", "r", "--json"]) == 0
    capsys.readouterr()
    assert main(["rescore", "r", "-m", "rouge", "--json"]) == 0
    assert [item["metric"] for item in json.loads(capsys.readouterr().out)["results"]] == ["length", "rouge"]
    assert main(["rescore", "r", "-m", "rouge"]) == 2
    assert "r: has all of these metrics: rouge" in capsys.readouterr().err
    assert main(["rescore", "none", "-m", "rouge"]) == 2
