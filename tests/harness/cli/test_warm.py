"""harness warm."""

from __future__ import annotations

from harness.cli.main import main


def test_the_metrics_of_a_spec_are_warmed(project, capsys):
    assert main(["warm", "spec.yaml"]) == 0
    assert "1 metrics are ready after" in capsys.readouterr().out
    assert main(["warm", "nothing.yaml"]) == 2


def test_a_metric_is_warmed_by_its_name(project, capsys):
    assert main(["warm", "rouge"]) == 0
    assert "1 metrics are ready after" in capsys.readouterr().out
