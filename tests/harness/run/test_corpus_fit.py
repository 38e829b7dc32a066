"""Corpus state in shards."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.registry import current
from harness.run import corpus_fit, example_store
from harness.run import score as scoring
from harness.run.corpus_fit import fit, prime
from harness.run.example_store import ExampleStore
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan, metric_plan
from tests.support.small_corpus import EXAMPLES, SETS, TEXTS, Counting, plans


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(example_store, "BLOCK", 5)
    monkeypatch.setattr(corpus_fit, "BLOCK", 5)
    return ExampleStore(EXAMPLES)


@pytest.mark.equal_bits
@pytest.mark.parametrize(
    "spec",
    [
        ("cider", {}),
        ("cider", {"variant": "plain"}),
        ("cider-r", {}),
        ("self-cider", {}),
        ("novelty", {}),
        ("best", {"metric": "cider"}),
        ("cider", {"df": [["a dog"], ["a cat"]]}),
    ],
)
def test_a_fit_in_shards_equals_one_pass(store, spec):
    (plan,) = plans(spec)
    out = fit([plan], store.references, shards=3)
    assert (out.streaming, out.in_memory) == ([0], [])
    # fitted before the first shard is scored
    assert ("state", plan.metric.signature()) in out.features.corpus_state()
    features = FeatureCache([e.references for e in EXAMPLES])
    sets = [
        CaptionSet(s.id, (*s.candidates, "a dog runs in the park"), s.references)
        for s in SETS
    ]
    expected = scoring.score(
        plan.metric, scoring.batches(sets, features), features, None, 0
    ).stats
    rows = []
    for start in range(0, len(sets), 4):
        out.features.next_shard()
        parts = scoring.batches(sets[start : start + 4], out.features)
        rows.append(scoring.score(plan.metric, parts, out.features, None, 0).stats)
    assert np.array_equal(np.concatenate(rows), expected, equal_nan=True)


def test_metrics_without_state_stream(store):
    out = fit(
        metrics=plans(("bleu4", {}), ("distinct", {}), ("meteor", {})),
        references=store.references,
        shards=3,
    )
    assert (out.streaming, out.in_memory) == ([0, 1, 2], [])


def test_a_metric_that_is_fitted_in_one_pass_keeps_all_texts_and_is_named(
    store, caplog
):
    class Fitted:
        def __init__(self):
            self.spec = current().create("metrics", "bleu4", {}).spec

        def signature(self):
            return "fitted"

        def fit(self, references, features):
            return {text for group in references for text in group}

    (plan,) = plans(("bleu4", {}))
    mine = metric_plan("mine", {}, Fitted())  # type: ignore[arg-type]
    out = fit([plan, mine], store.references, shards=3)
    assert (out.streaming, out.in_memory) == ([0], [1])
    assert "is fitted in one pass and keeps all texts in memory" in caplog.text
    assert fit([plan, mine], store.references, shards=1).streaming == [0, 1]


def test_a_fit_that_one_example_is_too_little_for_keeps_all_texts(store, caplog):
    metric = Counting(failing=True)
    with caplog.at_level("DEBUG"):
        out = fit(
            [*plans(("bleu4", {})), MetricPlan("mine", "mine", {}, metric)],
            store.references,
            shards=2,
        )
    assert (out.streaming, out.in_memory, metric.fitted) == ([0], [1], [1])
    assert (
        "note: metric 'mine' is fitted in one pass and keeps all texts in memory "
        "(docs/plugins.md: merge)" in caplog.messages
    )
    assert "fit of counting on one example: too few" in caplog.messages


def test_a_part_that_is_fitted_in_one_pass_keeps_all_texts_and_the_others_stream(store):
    steps = []
    first = Counting("first", one_pass=True)
    second = Counting("second", one_pass=True)
    (cider,) = plans(("cider", {}))
    metrics = [
        MetricPlan("first", "first", {}, first),
        cider,
        MetricPlan("second", "second", {}, second),
    ]
    out = fit(metrics, store.references, shards=2, advance=steps.append)
    assert (out.streaming, out.in_memory) == ([1], [0, 2])
    assert first.fitted == second.fitted == [5, 5], (
        "the second block shows that they cannot be merged"
    )
    assert steps == [5, 5, 2], "blocks of twelve examples"
    kept = out.features.corpus_state()
    assert ("state", cider.metric.signature()) in kept and not {
        ("state", "first"),
        ("state", "second"),
    } & set(kept)


def test_priming_builds_what_is_built_on_first_use(store):
    (plan,) = plans(("trm", {"distance": "cider"}))
    out = fit([plan], store.references, shards=3)
    fitted = set(out.features.corpus_state())
    prime(out, [plan], [CaptionSet("x", ("a dog", "a cat"), TEXTS[0])])
    built = set(out.features.corpus_state()) - fitted
    assert any("cider-d" in str(key) for key in built), (
        "the document frequencies of the distance"
    )
    assert out.features.texts == []
