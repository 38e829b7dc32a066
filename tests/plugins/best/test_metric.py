"""Metric ``best`` against the scores of the candidates one by one."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.registry import current
from harness.run.features import FeatureCache
from harness.stats.significance import untestable_reason
from harness_metrics.best.metric import Best

SETS = [
    CaptionSet(
        "a",
        ("a dog runs", "cats", "the dog runs fast"),
        ("the dog runs fast", "a dog is running"),
    ),
    CaptionSet(
        "b", ("red", "a red ball", "a blue ball"), ("a red ball", "the ball is red")
    ),
]


def single(name, params, item, k):
    """Score of candidate k of an example, with the corpus state of both examples."""
    features = FeatureCache([s.references for s in SETS])
    metric = current().create("metrics", name, params)
    alone = CaptionSet(item.id, item.candidates[k : k + 1], item.references)
    state = metric.fit(features.references, features)
    return metric.per_example(metric.stats(features.batch([alone]), features, state))[0]


@pytest.mark.parametrize(
    ("name", "params", "choose"),
    [
        ("cider", {}, max),
        ("meteor", {}, max),
        ("bleu", {"n": 2}, max),
        ("ter", {}, min),
        ("rouge", {}, max),
    ],
)
def test_equals_the_best_of_the_single_scores(name, params, choose):
    if name == "ter":
        pytest.importorskip("sacrebleu")
    features = FeatureCache([s.references for s in SETS])
    best = Best(metric={name: params})
    batch = features.batch(SETS)
    stats = best.stats(batch, features, best.fit(features.references, features))
    expected = [
        choose(single(name, params, item, k) for k in range(3)) for item in SETS
    ]
    np.testing.assert_allclose(best.per_example(stats), expected, rtol=0, atol=1e-12)
    assert best.reduce(stats) == pytest.approx(np.mean(expected))
    assert best.spec.higher_is_better is (choose is max)


def test_name_and_signature_are_those_of_the_metric():
    best = Best(metric="cider")
    assert best.spec.name == "best(cider)"
    assert best.signature().startswith("best|cider")


def test_a_list_of_metrics_is_a_grid_axis():
    scores = harness.score(
        {"a": ["a dog runs", "cats"], "b": ["a red ball", "red"]},
        {s.id: list(s.references) for s in SETS},
        metrics=[{"best": {"metric": ["cider", "rouge"]}}],
    )
    assert list(scores) == ["best(cider)", "best(rouge)"]


@pytest.mark.parametrize(
    "name", ["distinct", {"trm": {"distance": "rouge"}}, "mentioned-features"]
)
def test_a_metric_that_does_not_score_single_candidates_is_an_error(name):
    with pytest.raises(HarnessError, match="does not score single candidates"):
        Best(metric=name)


class FirstWordLength(MeanMetric):
    """Length of the first word of the only candidate; undefined for an empty text."""

    def __init__(self, higher_is_better):
        self.spec = MetricSpec("first-word-length", higher_is_better)

    def scores(self, batch, features, state):
        assert batch.n == 1
        return np.array(
            [
                len(item.candidates[0].split()[0]) if item.candidates[0] else np.nan
                for item in batch.sets
            ]
        )


@pytest.mark.parametrize(("higher", "expected"), [(True, [3, 4]), (False, [1, 4])])
def test_undefined_candidates_are_ignored_and_examples_without_a_score_are_undefined(
    higher, expected
):
    sets = [
        CaptionSet("a", ("a dog", "the", ""), ("x",)),
        CaptionSet("b", ("", "cats", ""), ("x",)),
        CaptionSet("c", ("", "", ""), ("x",)),
    ]
    features = FeatureCache()
    best = Best(metric=FirstWordLength(higher))
    assert best.scores(features.batch(sets), features, None).tolist() == pytest.approx(
        [*expected, np.nan], nan_ok=True
    )


def test_p_values_follow_the_inner_metric():
    assert untestable_reason(Best(metric="rouge")) == ""
    slow = Best(metric="chrf")
    assert untestable_reason(slow).startswith(
        "scores captions by chrf, which takes milliseconds"
    )
