"""Estimate of a run: what its metrics declare, for all examples and systems; a run that
needs more memory than there is.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness import api
from harness.cli.main import main
from harness.contracts import CaptionSet, Cost, Example, MeanMetric, MetricSpec, cost_of
from harness.errors import HarnessError
from harness.run import resources, shard_grid
from harness.run.example_store import ExampleStore
from harness.run.execute import read_examples
from harness.run.metric_plan import MetricPlan, Plan
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
        return estimate_of(
            [
                "metrics=[bleu]",
                "decoding.candidates=5",
                *(f"significance.{item}" for item in significance),
            ]
        ).seconds

    drawn = seconds("method=monte-carlo", "draws=4")
    assert (
        seconds("method=exact", "draws=4", "budget=20")
        == drawn
        < seconds("method=exact", "draws=4", "budget=21")
    ), "21 of 5 + 2 texts"
    assert seconds("method=monte-carlo", "draws=99") == seconds("method=exact")


def test_the_memory_is_that_of_the_largest_metric(project):
    small = estimate_of(["metrics=[bleu]"])
    large = estimate_of(["metrics=[bleu, mmdagg]"])
    assert large.bytes > small.bytes >= 200e6
    assert "of one core for the metrics" in str(large)


def test_the_memory_is_a_sum_of_the_process_a_batch_and_what_every_example_holds(
    project, monkeypatch
):
    (item,) = api.plans("spec.yaml", ["metrics=[cider]"])
    cost = cost_of(item.caption_metrics[0].metric, 1, 1, 2.0, tested=False)
    sets = [CaptionSet("1", ("a b",), ("a b",))] * 10
    memory, without_metrics = (
        check_sets(metrics, sets).bytes for metrics in (item.caption_metrics, [])
    )
    assert without_metrics - 200e6 == pytest.approx(10 * (2 * BYTES_PER_TEXT + 250))
    assert memory - without_metrics == pytest.approx(
        10 * (cost.bytes + cost.corpus) + cost.fixed
    )
    monkeypatch.setattr(resources, "MAX_BATCH_PAIRS", 12)
    in_batches = check_sets(item.caption_metrics, sets).bytes - without_metrics
    assert in_batches == pytest.approx(
        (1 + 12 // 2**2) * cost.bytes + 10 * cost.corpus + cost.fixed
    ), "batches of 4 sets"


class Declared(MeanMetric):
    """A metric of a given cost, which remembers for what it was asked;
    its permutation test scores texts again.
    """

    def __init__(self, cost: Cost) -> None:
        self.spec = MetricSpec("declared", True)
        self.declared = cost
        self.asked = []

    def cost(self, n, m, tokens, *, tested=False):
        self.asked.append((n, m, tokens, tested))
        return self.declared


def plan_of(metric):
    return MetricPlan("declared", "declared", {}, metric)


def test_judged_sets_are_estimated_by_their_largest_sizes_and_lengths():
    metric = Declared(Cost(1.5, 1000.0, fixed=7.0, corpus=11.0))
    sets = [
        CaptionSet("1", ("a b c", "d"), ("e",)),
        CaptionSet("2", ("f",), ("g", "h i")),
    ]
    estimate = check_sets([plan_of(metric)], sets)
    assert metric.asked == [(2, 2, 3, False), (2, 2, 9 / 6, False)], (
        "the largest example, then the mean one"
    )
    assert estimate.seconds == 2 * 1.5
    assert estimate.bytes == 200e6 + 2 * (4 * BYTES_PER_TEXT + 250 + 11) + 2 * 1000 + 7


def test_of_several_metrics_the_times_add_up_and_the_largest_memories_count():
    costs = [Cost(1.0, 1000.0, corpus=11.0), Cost(2.0, 5.0, fixed=10.0, corpus=500.0)]
    for order in (costs, costs[::-1]):
        estimate = check_sets(
            [plan_of(Declared(cost)) for cost in order],
            [CaptionSet("1", ("a",), ("b",))] * 3,
        )
        assert estimate.seconds == 3 * (1 + 2)
        assert estimate.bytes == 200e6 + 3 * (2 * BYTES_PER_TEXT + 250 + 500) + 3 * 1000


def test_many_sets_are_held_by_shard_and_scored_by_batch(monkeypatch):
    free = {resources: 1e12, shard_grid: 8 * BYTES_PER_TEXT * 2 * 600}
    for module, count in free.items():
        monkeypatch.setattr(module, "available_memory", lambda count=count: count)
    estimate = check_sets(
        [plan_of(Declared(Cost(0.0, 1000.0, corpus=0.0)))],
        [CaptionSet("1", ("a",), ("b",))] * 700,
    )
    assert estimate.bytes == 200e6 + 600 * 2 * BYTES_PER_TEXT + 512 * 1000 + 700 * 250


def test_a_batch_holds_one_set_more_than_fits_its_pairs_of_texts(monkeypatch):
    monkeypatch.setattr(resources, "MAX_BATCH_PAIRS", 20)
    estimate = check_sets(
        [plan_of(Declared(Cost(0.0, 1000.0, corpus=0.0)))],
        [CaptionSet("1", ("a",), ("b", "c"))] * 10,
    )
    assert estimate.bytes == 200e6 + 10 * (3 * BYTES_PER_TEXT + 250) + (1 + 2) * 1000, (
        "20 pairs are those of 2 sets of 3 texts"
    )


def test_a_run_is_estimated_for_every_system_and_the_largest_example(project):
    (item,) = api.plans(
        "spec.yaml",
        [
            "models=[{echo: {n: 1}}, {echo: {n: 2}}]",
            "decoding.temperature=[0.5, 1.0, 2.0]",
            "references=[1, 2]",
        ],
    )
    metric = Declared(Cost(1.0, 0.0, corpus=0.0))
    store = ExampleStore(
        [
            Example("a", ("x y", "x")),
            Example("b", ("x", "x y z", "x")),
            Example("c", ("x",)),
        ]
    )
    estimate = check_plan(replace(item, metrics=(plan_of(metric),)), store)
    assert metric.asked == [(1, 3, 3, False), (1, 3, 9 / 6, False)], (
        "1 candidate unless the decoding says how many"
    )
    assert estimate.seconds == 3 * 12
    assert estimate.bytes == 200e6 + 3 * ((3 + 12) * BYTES_PER_TEXT + 250)


def test_the_candidates_are_those_of_the_largest_decoding(project):
    (item,) = api.plans("spec.yaml", ["decoding.candidates=[3, 4, 2]"])
    check_plan(
        replace(item, metrics=(plan_of(metric := Declared(Cost(1.0, 0.0))),)),
        read_examples(item),
    )
    assert {(n, m) for n, m, *_ in metric.asked} == {(4, 2)}


def test_a_relabeling_of_a_test_of_its_own_takes_50_nanoseconds(project):
    def seconds(draws):
        significance = [
            "significance.method=monte-carlo",
            f"significance.draws={draws}",
        ]
        return estimate_of(
            ["metrics=[bleu]", "decoding.candidates=5", *significance]
        ).seconds

    assert seconds(14) - seconds(4) == pytest.approx(6 * 10 * 5e-8, rel=1e-6)
    assert (
        seconds(14) > estimate_of(["metrics=[bleu]", "decoding.candidates=5"]).seconds
    )


@pytest.mark.parametrize(
    ("significance", "scorings"),
    [
        ({"method": "exact"}, 136),
        ({"method": "exact", "budget": 136, "draws": 100}, 136),
        ({"method": "exact", "budget": 137, "draws": 100}, 136),
        ({"method": "exact", "budget": 135, "draws": 100}, 100),
        ({"method": "monte-carlo", "draws": 100}, 100),
        ({"method": "monte-carlo"}, 136),
        ({"method": "exact", "scorings": 6 * 105 + 5}, 105),
        ({"method": "exact", "scorings": 6 * 98}, 99),
        ({"method": "exact", "draws": 50, "budget": 1, "scorings": 1}, 50),
    ],
)
def test_a_test_that_scores_texts_again_takes_as_long_as_its_scorings(
    project, significance, scorings
):
    """136 relabelings of 15 candidates and 2 references; at most the scorings of the
    run, but 99 for each of its 6 examples.
    """
    (item,) = api.plans(
        "spec.yaml",
        [
            "decoding.candidates=15",
            *(f"significance.{name}={value}" for name, value in significance.items()),
        ],
    )
    metric = Declared(Cost(0.5, 0.0))
    assert check_plan(
        replace(item, metrics=(plan_of(metric),)), read_examples(item)
    ).seconds == 6 * 0.5 * (1 + scorings)
    assert {tested for *_, tested in metric.asked} == {True}


def test_memory_that_just_suffices_is_enough(monkeypatch):
    arguments = [plan_of(Declared(Cost(0.0, 0.0)))], [CaptionSet("1", ("a",), ("b",))]
    needed = check_sets(*arguments).bytes
    monkeypatch.setattr(resources, "available_memory", lambda: needed)
    assert check_sets(*arguments).bytes == needed
    monkeypatch.setattr(resources, "available_memory", lambda: needed - 1)
    with pytest.raises(
        HarnessError,
        match=r"1 examples of 1 \+ 1 captions need about 0\.2 GB of memory, "
        r"and 0\.2 GB are free",
    ):
        check_sets(*arguments)


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_a_run_that_needs_more_memory_than_there_is_stops_before_anything_is_written(
    project, capsys, monkeypatch, verb
):
    monkeypatch.setattr(resources, "available_memory", lambda: 100_000_000)
    assert main([verb, "spec.yaml"]) == 2
    assert "examples of 1 + " in (message := capsys.readouterr().err)
    assert "and 0.1 GB are free; fewer metrics" in message
    assert not (project / "runs").exists()


def test_validate_refuses_data_that_cannot_be_read(project, capsys):
    (project / "cut.jsonl").write_text('{"id": "a", "references": ["a dog"]}\n{"id"\n')
    assert (
        main(
            [
                "validate",
                "spec.yaml",
                "--set",
                "dataset={reader: jsonl, path: cut.jsonl}",
            ]
        )
        == 2
    )
    assert "cut.jsonl:2: not JSON at byte 42: " in capsys.readouterr().err
