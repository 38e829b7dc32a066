"""CIDEr with refitted document frequencies, against CIDEr of the same examples."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.run import intervals
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness_metrics.ngram import cider_refit
from harness_metrics.ngram.cider import Cider, CiderDistance

WORDS = [f"w{k}" for k in range(30)]


def examples(count, seed=0):
    rng = np.random.default_rng(seed)

    def text():
        return " ".join(
            rng.choice(WORDS, rng.integers(0, 9), p=np.arange(30, 0, -1) / 465)
        )

    return [
        CaptionSet(
            str(k),
            tuple(text() for _ in range(1 + k % 2)),
            tuple(text() for _ in range(2 + k % 3)),
        )
        for k in range(count)
    ]


def stats_of(metric, sets):
    features = FeatureCache([item.references for item in sets])
    return scoring.score(
        metric, scoring.batches(sets, features), features, None, 0
    ).stats


@pytest.mark.parametrize("variant", ["d", "plain"])
def test_the_value_is_that_of_df_references(variant):
    sets = examples(23)
    fixed = Cider(tokenizer="none", variant=variant)
    refitted = Cider(df="resampled", tokenizer="none", variant=variant)
    stats = stats_of(refitted, sets)
    assert refitted.reduce(stats) == pytest.approx(
        fixed.reduce(stats_of(fixed, sets)), abs=1e-12
    )
    np.testing.assert_array_equal(
        refitted.per_example(stats), stats_of(fixed, sets)[:, 0]
    )
    assert refitted.reduce(stats, np.ones((2, 23))) == pytest.approx(
        [refitted.reduce(stats)] * 2, abs=1e-12
    )
    assert refitted.signature() == f"cider-{variant}|df:resampled|tok:none"


def test_weights_repeat_and_leave_out_documents():
    sets = examples(9, 1)
    metric = Cider(df="resampled", tokenizer="none")
    weights = np.array([2, 0, 1, 1, 3, 0, 1, 1, 0])
    chosen = [sets[k] for k in np.repeat(np.arange(9), weights)]
    expected = Cider(tokenizer="none").reduce(stats_of(Cider(tokenizer="none"), chosen))
    assert metric.reduce(stats_of(metric, sets), weights[None])[0] == pytest.approx(
        expected, abs=1e-12
    )


def test_the_interval_counts_the_frequencies():
    sets = examples(60, 2)
    metric = Cider(df="resampled", tokenizer="none")
    fixed = Cider(tokenizer="none")
    value, interval = intervals.estimate(metric, stats_of(metric, sets), 100, 0)
    assert interval.ends is not None
    assert interval.ends[0] < value < interval.ends[1]
    assert interval.note == cider_refit.NOTE
    assert (
        intervals.estimate(fixed, stats_of(fixed, sets), 100, 0)[1].note
        == f"{cider_refit.HELD_FIXED}; df: resampled refits them"
    )
    assert CiderDistance().held_fixed == fixed.spec.held_fixed == cider_refit.HELD_FIXED
    assert metric.spec.held_fixed == ""
    documents = [list(item.references) for item in sets]
    table = Cider(df=documents, tokenizer="none")
    assert intervals.estimate(table, stats_of(table, sets), 100, 0)[1].note == ""


def test_examples_beyond_the_groups_are_left_out_together(monkeypatch):
    monkeypatch.setattr(cider_refit, "GROUPS", 7)
    metric = Cider(df="resampled", tokenizer="none")
    result = metric.interval(stats_of(metric, examples(40, 3)), 100, 0)
    assert result.ends is not None
    assert result.ends[0] < result.ends[1]


def test_the_distance_has_no_resampled_frequencies():
    with pytest.raises(InputError):
        CiderDistance(df="resampled")
