"""Rows of a run's texts: what is forgotten between shards, and that no digit depends on
it.
"""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.ngram import df_table, document_frequency
from harness_metrics.ngram.cider import Cider
from harness_metrics.ngram.cider_r import CiderR
from harness_metrics.tokenisers.text_rows import text_rows_of

DRAW = random.Random(1)
EXAMPLES = 120
SHARD = 40
METRICS = (Cider(), CiderR(), Cider(variant="plain"), Cider(df="given"))


def caption() -> str:
    return " ".join(DRAW.choice("abcdefghijklmnop") for _ in range(DRAW.randint(3, 9)))


REFERENCES = [tuple(caption() for _ in range(3)) for _ in range(EXAMPLES)]
SETS = [
    CaptionSet(str(k), (caption(), caption()), REFERENCES[k]) for k in range(EXAMPLES)
]


def fit_in_shards(metrics):
    """Return a feature cache with the states of metrics,
    fitted shard by shard on one index of texts.
    """
    features = FeatureCache(REFERENCES)
    states = {}
    for start in range(0, EXAMPLES, SHARD):
        for metric in metrics:
            key = ("state", metric.signature())
            part = metric.fit(REFERENCES[start : start + SHARD], features)
            states[key] = metric.merge(states[key], part) if key in states else part
            del part
        features.next_shard()
    for key, state in states.items():
        features.keep(key, state)
    return features


@pytest.mark.parametrize("metrics", [METRICS[:1], METRICS])
def test_n_grams_of_one_document_are_dropped_and_no_digit_changes(metrics):
    whole = FeatureCache(REFERENCES)
    expected = {
        m.signature(): m.scores(whole.batch(SETS), whole, m.fit(REFERENCES, whole))
        for m in metrics
    }

    features = fit_in_shards(metrics)
    index = text_rows_of(features, "ptb").index
    state = features.memo(("state", metrics[0].signature()), lambda: None)
    frequent = int(np.sum(state.counts > 1))
    assert index.n_grams > 2 * frequent > 0
    features.next_shard()
    assert text_rows_of(features, "ptb").index.n_grams == frequent

    copied = pickle.loads(pickle.dumps(features))
    for cache in (features, copied):
        for metric in metrics:
            state = cache.memo(("state", metric.signature()), lambda: None)
            scores = []
            for start in range(0, EXAMPLES, SHARD):
                shard = cache.batch(SETS[start : start + SHARD])
                scores.append(metric.scores(shard, cache, state))
                assert text_rows_of(cache, "ptb").index.n_grams > frequent
                cache.next_shard()  # n-grams of this shard alone are forgotten
                assert text_rows_of(cache, "ptb").index.n_grams == frequent
            assert np.array_equal(np.concatenate(scores), expected[metric.signature()])


def test_a_table_that_still_grows_keeps_all_n_grams():
    features = FeatureCache(REFERENCES)
    metric = Cider()
    first = metric.fit(REFERENCES[:SHARD], features)
    count = len(first.counts)
    features.next_shard()
    assert text_rows_of(features, "ptb").index.n_grams == count
    features.keep(("state", "complete"), METRICS[1].fit(REFERENCES[:SHARD], features))
    features.next_shard()
    assert text_rows_of(features, "ptb").index.n_grams == count


def test_an_n_gram_of_a_table_keeps_its_beginnings_that_the_table_lacks(tmp_path):
    path = tmp_path / "df.json"
    df_table.write(
        path, document_frequency.Table(["a dog runs fast"], np.array([3]), 4, "none")
    )
    metric = Cider(df=str(path), tokenizer="none")
    features = FeatureCache([["a dog runs fast"]])
    sets = [CaptionSet("0", ("the big a dog runs fast",), ("zebra a dog runs fast",))]
    state = metric.fit(features.references, features)
    features.keep(("state", metric.signature()), state)
    before = metric.scores(features.batch(sets), features, state)
    features.next_shard()
    assert text_rows_of(features, "none").index.gram_texts() == [
        "a",
        "a dog",
        "a dog runs",
        "a dog runs fast",
    ]
    assert np.array_equal(metric.scores(features.batch(sets), features, state), before)


def test_a_run_without_document_frequencies_forgets_all_n_grams():
    features = FeatureCache(REFERENCES)
    texts = text_rows_of(features, "ptb")
    texts.gram_rows(features, features.intern(["a dog runs", "a cat"]))
    assert texts.index.n_grams > 0
    features.next_shard()
    assert texts.index.n_grams == 0
