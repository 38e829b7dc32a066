"""Corpus state: fitted shard by shard, in one pass, not at all."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Example
from harness.registry import current
from harness.run import corpus_fit, example_store
from harness.run import score as scoring
from harness.run.corpus_fit import fit, prime
from harness.run.example_store import ExampleStore
from harness.run.features import FeatureCache
from harness.run.metric_plan import metric_plan

TEXTS = [("a dog runs", "the dog runs fast"), ("a cat", "the black cat sleeps"), ("a bus", "a red bus stops"), ("a dog", "dogs run")] * 3
EXAMPLES = [Example(f"e{k}", texts) for k, texts in enumerate(TEXTS)]
SETS = [CaptionSet(f"e{k}", (f"{texts[0]} today",), texts) for k, texts in enumerate(TEXTS)]


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setattr(example_store, "BLOCK", 5)
    monkeypatch.setattr(corpus_fit, "BLOCK", 5)
    return ExampleStore(EXAMPLES)


def plans(*specs):
    return [metric_plan(name, params, current().create("metrics", name, params)) for name, params in specs]


@pytest.mark.equal_bits
@pytest.mark.parametrize(
    "spec",
    [("cider", {}), ("cider", {"variant": "plain"}), ("cider-r", {}), ("self-cider", {}), ("novelty", {}),
     ("best", {"metric": "cider"}), ("cider", {"df": [["a dog"], ["a cat"]]})],
)  # fmt: skip
def test_a_fit_in_shards_equals_one_pass(store, spec):
    (plan,) = plans(spec)
    out = fit([plan], store.references, shards=3)
    assert (out.streaming, out.in_memory) == ([0], [])
    assert ("state", plan.metric.signature()) in out.features.corpus_state()  # fitted before the first shard is scored
    features = FeatureCache([e.references for e in EXAMPLES])
    sets = [CaptionSet(s.id, (*s.candidates, "a dog runs in the park"), s.references) for s in SETS]
    expected = scoring.score(plan.metric, scoring.batches(sets, features), features, None, 0).stats
    rows = []
    for start in range(0, len(sets), 4):
        out.features.next_shard()
        parts = scoring.batches(sets[start : start + 4], out.features)
        rows.append(scoring.score(plan.metric, parts, out.features, None, 0).stats)
    assert np.array_equal(np.concatenate(rows), expected, equal_nan=True)


def test_metrics_without_state_stream(store):
    out = fit(plans(("bleu4", {}), ("distinct", {}), ("meteor", {})), store.references, shards=3)
    assert (out.streaming, out.in_memory) == ([0, 1, 2], [])


def test_a_metric_that_is_fitted_in_one_pass_keeps_all_texts_and_is_named(store, caplog):
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


def test_priming_builds_what_is_built_on_first_use(store):
    (plan,) = plans(("trm", {"distance": "cider"}))
    out = fit([plan], store.references, shards=3)
    prime(out, [plan], [CaptionSet("x", ("a dog", "a cat"), TEXTS[0])])
    state = out.features.corpus_state()
    assert any("cider" in str(key) for key in state)
    assert out.features.texts == []
