"""Estimate of a run: what its metrics declare, for all examples and systems; a run that needs more memory than there is."""

from __future__ import annotations

import pytest

from harness import api
from harness.cli.main import main
from harness.contracts import CaptionSet, cost_of
from harness.run import resources
from harness.run.execute import read_examples
from harness.run.metric_plan import Plan
from harness.run.resources import check_plan, check_sets
from harness.run.shard_grid import BYTES_PER_TEXT


def estimate_of(overrides):
    (plan,) = api.plans("spec.yaml", overrides)
    assert isinstance(plan, Plan)
    return check_plan(plan, read_examples(plan))


def test_the_time_grows_with_the_number_of_systems_and_with_tests(project):
    once = estimate_of(["metrics=[bleu]"])
    twice = estimate_of(["metrics=[bleu]", "models=[{echo: {n: 1}}, {echo: {n: 2}}]"])
    tested = estimate_of(["metrics=[bleu]", "significance.method=exact"])
    assert twice.seconds == pytest.approx(2 * once.seconds)
    assert tested.seconds > once.seconds


def test_relabelings_beyond_the_budget_of_exact_tests_are_drawn(project):
    def seconds(*significance):
        return estimate_of(["metrics=[bleu]", "decoding.candidates=5", *(f"significance.{item}" for item in significance)]).seconds

    drawn = seconds("method=monte-carlo", "draws=4")
    assert seconds("method=exact", "draws=4", "budget=20") == drawn < seconds("method=exact", "draws=4", "budget=21"), "21 of 5 + 2 texts"
    assert seconds("method=monte-carlo", "draws=99") == seconds("method=exact")


def test_the_memory_is_that_of_the_largest_metric(project):
    small, large = estimate_of(["metrics=[bleu]"]), estimate_of(["metrics=[bleu, mmdagg]"])
    assert large.bytes > small.bytes >= 200e6
    assert "of one core for the metrics" in str(large)


def test_the_memory_is_a_sum_of_the_process_a_batch_and_what_every_example_holds(project, monkeypatch):
    (item,) = api.plans("spec.yaml", ["metrics=[cider]"])
    cost = cost_of(item.caption_metrics[0].metric, 1, 1, 2.0, tested=False)
    sets = [CaptionSet("1", ("a b",), ("a b",))] * 10
    memory, without_metrics = (check_sets(metrics, sets).bytes for metrics in (item.caption_metrics, []))
    assert without_metrics - 200e6 == pytest.approx(10 * (2 * BYTES_PER_TEXT + 250))
    assert memory - without_metrics == pytest.approx(10 * (cost.bytes + cost.corpus) + cost.fixed)
    monkeypatch.setattr(resources, "MAX_BATCH_PAIRS", 12)
    in_batches = check_sets(item.caption_metrics, sets).bytes - without_metrics
    assert in_batches == pytest.approx((1 + 12 // 2**2) * cost.bytes + 10 * cost.corpus + cost.fixed), "batches of 4 sets"


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_a_run_that_needs_more_memory_than_there_is_stops_before_anything_is_written(project, capsys, monkeypatch, verb):
    monkeypatch.setattr(resources, "available_memory", lambda: 100_000_000)
    assert main([verb, "spec.yaml"]) == 2
    assert "examples of 1 + " in (message := capsys.readouterr().err)
    assert "and 0.1 GB are free; fewer metrics" in message
    assert not (project / "runs").exists()


def test_validate_says_why_there_is_no_estimate(project, capsys):
    (project / "cut.jsonl").write_text('{"id": "a", "references": ["a dog"]}\n{"id"\n')
    assert main(["validate", "spec.yaml", "--set", "dataset={reader: jsonl, path: cut.jsonl}"]) == 0
    assert "  cost: unknown, because the data set cannot be read: cut.jsonl:2: " in capsys.readouterr().out
