"""First-use work of the built-in metrics."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness.contracts import MeanMetric, MetricSpec
from harness.errors import HarnessError, MissingExtra
from harness.run import first_use
from harness.run.first_use import built_in_metrics, fetched_plans, warm_metrics
from harness.run.metric_plan import MetricPlan


def test_metrics_are_warmed_and_those_that_need_more_say_so():
    plans = {plan.label: plan for plan in built_in_metrics()}
    assert {"bleu4", "cider", "meteor", "rouge", "distinct2"} <= set(plans) | {
        "distinct2"
    }
    assert not {"mmd", "clipscore", "spice"} & set(plans)
    outcome = {
        label: (seconds, reason)
        for label, seconds, reason in warm_metrics(
            [plans["bleu4"], plans["relevance"], plans["cider"]]
        )
    }
    assert outcome["bleu4"][0] > 0
    assert (outcome["bleu4"][1], outcome["cider"][1]) == ("", "")
    assert "needs 'target_id'" in outcome["relevance"][1]
    assert next(warm_metrics([plans["sari"]]))[2] == "", (
        "the small examples have source texts"
    )


@pytest.mark.parametrize("provider", ["acme", "mine"])
def test_metrics_of_a_project_are_passed_over(project, provider):
    registry = project / "registry.yaml"
    registry.write_text(
        registry.read_text().replace("provider: mine", f"provider: {provider}")
    )
    names = [plan.label for plan in built_in_metrics()]
    assert "length" not in names and {"bleu4", "rouge", "sari"} <= set(names)


class Seen(MeanMetric):
    """A metric that remembers the sets that it scores, under how many relabelings,
    and when it is warmed.
    """

    def __init__(self, name, seen):
        self.spec = MetricSpec(name, True)
        self.seen = seen

    def signature(self):
        return self.spec.name

    def scores(self, batch, features, state):
        self.seen.append(
            (
                self.spec.name,
                [
                    (item.candidates, item.references, item.source)
                    for item in batch.sets
                ],
                features.references,
            )
        )
        return [1.0] * len(batch)

    def null(self, batch, features, state, labels):
        self.seen.append((self.spec.name, len(labels)))
        return super().null(batch, features, state, labels)


class Warming(Seen):
    def warm(self):
        self.seen.append("warm")


class Broken(Seen):
    def per_example(self, stats):
        raise HarnessError("a file is missing")


def test_two_examples_are_scored_with_all_relabelings_and_what_warms_up_comes_last(
    monkeypatch,
):
    seen = []
    monkeypatch.setattr(
        first_use,
        "time",
        SimpleNamespace(
            perf_counter=iter([100.0, 350.5, 400.0, 401.0, 500.0, 502.0]).__next__
        ),
    )
    metrics = [Warming("first", seen), Seen("second", seen), Broken("third", seen)]
    outcome = list(
        warm_metrics(
            [MetricPlan(metric.spec.name, "", {}, metric) for metric in metrics]
        )
    )
    assert [(name, reason) for name, _, reason in outcome] == [
        ("second", ""),
        ("third", "a file is missing"),
        ("first", ""),
    ]
    assert [seconds for _, seconds, _ in outcome] == [250.5, 1.0, 2.0]
    assert seen[0] == "warm"
    name, sets, references = seen[1]
    dog, _ = sets
    assert (name, len(sets)) == ("second", 2)
    assert dog[0] == ("a dog runs on the grass", "two dogs are running outside"), (
        "two candidates"
    )
    assert dog[1] == ("two dogs are running outside", "the dog chases a red ball"), (
        "two references"
    )
    assert dog[2] == "a dog runs on the grass"
    assert list(references) == [texts for _, texts, _ in sets]
    assert ("second", 6) in seen, "ways to choose 2 of 4 texts"


def test_metrics_of_other_inputs_are_not_built_in_ones_that_run():
    needs = {plan.name: plan.metric.spec.needs for plan in built_in_metrics()}
    assert set().union(*needs.values()) == {"references"}
    assert all(isinstance(plan, MetricPlan) for plan in built_in_metrics())


def test_the_files_of_a_metric_are_fetched_before_it_is_made(project, monkeypatch):
    seen = []

    class Lacking(MeanMetric):
        def __init__(self):
            if not seen:
                raise MissingExtra("no files")
            self.spec = MetricSpec("lacking", True)

        def signature(self):
            return "lacking"

        @classmethod
        def fetch(cls):
            seen.append("fetched")

    assert [plan.label for plan in fetched_plans("length")] == ["length"]
    registry = type(first_use.current())
    load = registry.load
    monkeypatch.setattr(
        registry,
        "load",
        lambda self, kind, name: (
            Lacking if name == "length" else load(self, kind, name)
        ),
    )
    (plan,) = fetched_plans("length")
    assert (seen, plan.label) == (["fetched"], "lacking")
    with pytest.raises(HarnessError, match="unknown metric 'lenth'"):
        fetched_plans("lenth")
