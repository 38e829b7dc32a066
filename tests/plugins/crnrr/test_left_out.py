"""Jackknife intervals of the pooled metrics."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.crnrr.left_out import (
    NOTE,
    _counts,
    _result,
    _without_one,
    _without_two,
)
from harness_metrics.crnrr.metric import Cnd, Cr, Nrr
from harness_metrics.words.captions import sides_of
from harness_metrics.words.grams import grams_of

VARIANTS = [
    Cr(tokenizer="none"),
    Nrr(tokenizer="none"),
    Cnd(tokenizer="none"),
    Nrr(tokenizer="none", form="unbiased"),
    Cnd(tokenizer="none", form="unbiased"),
    Nrr(tokenizer="none", form="cross-sentence"),
]
WORDS = np.array([f"w{k}" for k in range(400)])
SHARE = 1 / np.arange(1, 401)


def rows(count, seed):
    """Return statistics of captions whose words follow Zipf's law."""
    rng = np.random.default_rng(seed)
    texts = [
        " ".join(rng.choice(WORDS, 6, p=SHARE / SHARE.sum())) for _ in range(3 * count)
    ]
    items = [
        CaptionSet(str(k), (texts[3 * k],), tuple(texts[3 * k + 1 : 3 * k + 3]))
        for k in range(count)
    ]
    features = FeatureCache()
    return Cnd(tokenizer="none").stats(features.batch(items), features, None)


@pytest.mark.parametrize("metric", VARIANTS, ids=lambda metric: metric.spec.name)
def test_results_without_one_and_two_examples_equal_the_metric(metric):
    stats = rows(12, 0)
    field = metric.fields[metric.form]
    q, p = grams_of(sides_of(stats), metric.n)
    counts = _counts(q, p, 12)
    whole, one = _without_one(counts)
    assert _result(whole, field) == pytest.approx(metric.reduce(stats), rel=1e-12)
    np.testing.assert_allclose(
        _result(one, field),
        metric.reduce(stats, 1.0 - np.eye(12)),
        rtol=1e-9,
        atol=1e-15,
    )
    pairs = _result(_without_two(counts, whole, one), field)
    for a, b in ((0, 1), (3, 11), (7, 5)):
        weights = np.ones((1, 12))
        weights[0, [a, b]] = 0
        assert pairs[a, b] == pytest.approx(metric.reduce(stats, weights)[0], rel=1e-9)


@pytest.mark.parametrize("metric", VARIANTS, ids=lambda metric: metric.spec.name)
@pytest.mark.parametrize("count", [30, 200])
def test_the_value_lies_in_its_interval(metric, count):
    stats = rows(count, 1)
    result = metric.interval(stats, 100, 0)
    assert result.ends is not None
    assert result.ends[0] < metric.reduce(stats) < result.ends[1]
    assert result.note == NOTE


@pytest.mark.slow
def test_intervals_cover_the_expected_value_at_20_examples():
    metric = Cnd(n=1, tokenizer="none")
    population = rows(1500, 2)
    rng = np.random.default_rng(3)
    samples = [population[rng.integers(0, 1500, 20)] for _ in range(250)]
    truth = np.mean([metric.reduce(sample) for sample in samples])
    ends = np.array([metric.interval(sample, 1, 0).ends for sample in samples])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) > 0.92


def test_no_interval_has_its_reason():
    stats = rows(4, 1)
    assert (
        Cnd(n=9, tokenizer="none").interval(stats, 10, 0).note
        == "the value is undefined"
    )
    equal = stats[np.zeros(4, dtype=int)]
    assert Nrr(tokenizer="none").interval(equal, 10, 0).ends is None
    conditional = Cnd(n=9, conditional=True, tokenizer="none").interval(stats, 10, 0)
    assert conditional.note == "fewer than two examples have n-grams on both sides"
    assert (
        Cnd(n=1, conditional=True, tokenizer="none").interval(stats, 50, 0).ends
        is not None
    )
