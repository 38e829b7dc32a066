"""Scores of lists and mappings of texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.contracts import MeanMetric, MetricSpec
from harness.run.metric_plan import MetricPlan
from harness.run.text_scores import Scores, score_captions
from harness.run.text_sets import caption_sets, sets_of


def test_a_metric_is_shown_by_its_signature():
    metric = harness.metric("caption-length")
    assert repr(metric) == f"<metric {metric.plan.metric.signature()}>"


def test_candidates_and_references_may_be_named():
    (item,) = sets_of(references=[["b"]], candidates=["a"], allow_missing=False)
    assert (item.candidates, item.references) == (("a",), ("b",))


def test_dictionaries_of_pycocoevalcap():
    references = {
        7: [{"image_id": 7, "caption": "a"}, {"image_id": 7, "caption": "b"}],
        8: [{"caption": "c"}],
    }
    sets = sets_of(
        {7: [{"image_id": 7, "caption": "x"}], 8: "y"}, references, allow_missing=False
    )
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("7", ("x",), ("a", "b")),
        ("8", ("y",), ("c",)),
    ]


class Words(MeanMetric):
    """Mean number of words; remembers when it is warmed and scored."""

    def __init__(self, name, seen):
        self.spec = MetricSpec(name, True)
        self.seen = seen

    def signature(self):
        return self.spec.name

    def scores(self, batch, features, state):
        self.seen.append(self.spec.name)
        return np.array([float(len(texts[0].split())) for texts in batch.texts])


class Warming(Words):
    def warm(self):
        self.seen.append(f"warm {self.spec.name}")


def test_metrics_that_warm_up_are_scored_last_and_results_keep_their_order():
    seen = []
    metrics = [Warming("first", seen), Words("second", seen), Words("third", seen)]
    plans = [
        MetricPlan(metric.spec.name, metric.spec.name, {}, metric) for metric in metrics
    ]
    results = score_captions(
        plans, caption_sets(["a b", "a", "a b c"], ["x"] * 3), samples=0
    )
    assert seen == ["warm first", "second", "third", "first"]
    assert list(results) == ["first", "second", "third"]
    assert {
        result.metric: (result.value, result.per_example.tolist())
        for result in results.values()
    } == dict.fromkeys(results, (2.0, [2.0, 1.0, 3.0]))


def test_the_interval_has_as_many_samples_as_in_a_spec_unless_told_otherwise():
    texts = [f"a {'b ' * (k % 7)}" for k in range(30)]
    metric = harness.metric("caption-length")
    plain, given, none, other = (
        metric(texts, texts, **values)
        for values in (
            {},
            {"seed": 0, "bootstrap": 1000},
            {"bootstrap": 0},
            {"seed": 1},
        )
    )
    assert plain.ci95 == given.ci95 is not None
    assert none.ci95 is None and none.value == plain.value
    assert metric(references=texts, candidates=texts).ci95 == plain.ci95
    assert other.ci95 != plain.ci95
    assert (
        score_captions([metric.plan], caption_sets(texts, texts))["caption-length"].ci95
        == plain.ci95
    )


def test_results_are_shown_as_text_and_table():
    result = harness.metric("rouge")(
        ["a dog", "a cat sat"], ["a dog", "a cat"], bootstrap=0
    )
    assert repr(result) == f"<rouge {result.value:.4g}, 2 examples>"
    tested = replace(result, ci95=(0.25, 0.5), p_value=0.012345, n=1)
    assert (
        repr(tested)
        == f"<rouge {result.value:.4g} (0.25 \u2026 0.5), p 0.0123, 1 example>"
    )
    assert repr(Scores({"a": result, "b": tested})) == f"{result!r}\n{tested!r}"
    assert repr(Scores()) == "<no scores>"
    assert result._repr_html_() == Scores({"rouge": result})._repr_html_()
    assert result._repr_html_().startswith("<table>")


def test_the_distributions_of_scores_are_a_chart():
    pytest.importorskip("altair")
    texts = [f"a {'b ' * k}" for k in range(1, 12)]
    scores = harness.score(texts, ["a b"] * 11, ["caption-length"], bootstrap=0)
    assert scores.chart().to_dict()
