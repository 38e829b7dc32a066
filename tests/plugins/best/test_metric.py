"""`best` against the scores of the candidates one by one."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.plugins.best.metric import Best
from harness.registry import current
from harness.run.features import FeatureCache

SETS = [
    CaptionSet("a", ("a dog runs", "cats", "the dog runs fast"), ("the dog runs fast", "a dog is running")),
    CaptionSet("b", ("red", "a red ball", "a blue ball"), ("a red ball", "the ball is red")),
]


def single(name, params, item, k):
    """A metric's number for one candidate in a run of both examples."""
    features = FeatureCache([s.references for s in SETS])
    metric = current().create("metrics", name, params)
    alone = CaptionSet(item.id, item.candidates[k : k + 1], item.references)
    state = metric.fit(features.references, features)
    return metric.per_example(metric.stats(features.batch([alone]), features, state))[0]


@pytest.mark.parametrize(
    ("name", "params", "choose"),
    [("cider", {}, max), ("meteor", {}, max), ("bleu", {"n": 2}, max), ("ter", {}, min), ("rouge", {}, max)],
)
def test_it_is_the_best_of_the_single_scores(name, params, choose):
    if name == "ter":
        pytest.importorskip("sacrebleu")
    features = FeatureCache([s.references for s in SETS])
    best = Best(metric={name: params})
    batch = features.batch(SETS)
    stats = best.stats(batch, features, best.fit(features.references, features))
    expected = [choose(single(name, params, item, k) for k in range(3)) for item in SETS]
    np.testing.assert_allclose(best.per_example(stats), expected, rtol=0, atol=1e-12)
    assert best.reduce(stats) == pytest.approx(np.mean(expected))
    assert best.spec.higher_is_better is (choose is max)


def test_it_has_the_metrics_name_and_signature_and_is_an_axis(monkeypatch):
    best = Best(metric="cider")
    assert best.spec.name == "best(cider)"
    assert best.signature().startswith("best|cider")
    made = harness.score({"a": ["a dog runs", "cats"], "b": ["a red ball", "red"]}, {s.id: list(s.references) for s in SETS},
                         metrics=[{"best": {"metric": ["cider", "rouge"]}}])  # fmt: skip
    assert list(made) == ["best(cider)", "best(rouge)"]


@pytest.mark.parametrize("name", ["distinct", {"trm": {"distance": "rouge"}}, "mentioned-features"])
def test_a_metric_of_no_single_candidate_is_refused(name):
    with pytest.raises(HarnessError, match="scores no single candidate"):
        Best(metric=name)
