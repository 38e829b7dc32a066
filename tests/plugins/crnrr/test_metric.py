"""The run metrics: statistics can be joined and weighted, pooled values are the corpus functions', intervals cover."""

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric
from harness.errors import HarnessError, UnknownName
from harness.plugins.crnrr.counting import Vocabulary
from harness.plugins.crnrr.metric import Cnd, Cr, Nrr
from harness.plugins.crnrr.ngrams import cr_nrr_cnd
from harness.plugins.crnrr.resampling import grams_of, intervals, weighted, words_of
from harness.run.features import FeatureCache

RNG = np.random.default_rng(3)


def text():
    return " ".join(RNG.choice(list("abcd"), RNG.integers(1, 7)))


def sets(count, n, m):
    return [CaptionSet(str(k), tuple(text() for _ in range(n)), tuple(text() for _ in range(m))) for k in range(count)]


def stats_of(metric, items):
    features = FeatureCache()
    return metric.stats(features.batch(items), features, None)


def joined(parts):
    width = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan) for part in parts]
    )


def pooled(items):
    return [[t.split() for item in items for t in getattr(item, side)] for side in ("candidates", "references")]


METRICS = [Cr, Nrr, Cnd]


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_pooled_value_of_joined_shards_and_weights(kind, n):
    metric = kind(n=n, tokenizer="none")
    assert isinstance(metric, Metric)
    items = [*sets(6, 3, 2), *sets(4, 1, 5)]
    stats = joined([stats_of(metric, items[:6]), stats_of(metric, items[6:])])
    expected = getattr(cr_nrr_cnd(*pooled(items), n), metric.kind)
    assert metric.reduce(stats) == expected
    assert metric.reduce(stats, np.ones((1, 10)))[0] == expected
    twice = [*items, items[0], items[9]]
    weights = np.array([[2, 1, 1, 1, 1, 1, 1, 1, 1, 2], [0] * 9 + [1]])
    found = metric.reduce(stats, weights)
    assert found[0] == getattr(cr_nrr_cnd(*pooled(twice), n), metric.kind)
    assert found[1] == getattr(cr_nrr_cnd(*pooled(items[9:]), n), metric.kind) or np.isnan(found[1])


@pytest.mark.parametrize(
    "metric",
    [Cr(tokenizer="none"), Nrr(tokenizer="none", form="cross-sentence"), Cnd(tokenizer="none", form="unbiased")],
)
def test_per_example_values_and_their_mean(metric):
    items = sets(8, 3, 4)
    stats = stats_of(metric, items)
    field = metric.fields[metric.form]
    expected = [getattr(cr_nrr_cnd(*pooled([item]), 2), field) for item in items]
    expected = np.array([np.nan if value is None else value for value in expected])
    np.testing.assert_array_equal(metric.per_example(stats), expected)
    conditional = type(metric)(tokenizer="none", form=metric.form, conditional=True)
    assert conditional.reduce(stats) == pytest.approx(np.nanmean(expected), abs=1e-15)
    weights = RNG.integers(0, 3, (5, 8))
    np.testing.assert_allclose(
        conditional.reduce(stats, weights), [np.nansum(w * expected) / w[~np.isnan(expected)].sum() for w in weights]
    )


def test_an_order_that_nobody_has_is_undefined():
    metric = Cnd(n=9, tokenizer="none")
    stats = stats_of(metric, sets(3, 1, 1))
    assert np.isnan(metric.reduce(stats))
    assert np.isnan(metric.per_example(stats)).all()


def test_names_say_what_changes_the_number():
    assert Cnd().spec.name == "cnd2"
    assert Nrr(n=3, form="unbiased", conditional=True).spec.name == "nrr3 unbiased conditional"
    assert Cnd(n=3).signature() == "cnd|n:3|form:plug-in|pooled|tok:ptb"
    assert (Cnd().spec.higher_is_better, Cr().spec.higher_is_better) == (False, True)
    with pytest.raises(UnknownName, match="cr has no form 'unbiased'"):
        Cr(form="unbiased")
    with pytest.raises(HarnessError, match="n is 0"):
        Cnd(n=0)


def test_weights_count_sentences_as_repeats():
    q, p = ([t.split() for t in (text() for _ in range(12))] for _ in range(2))
    weights = RNG.integers(0, 3, (4, 12))
    vocabulary = Vocabulary()
    grams = grams_of([words_of(q, vocabulary), words_of(p, vocabulary)], 2)
    for w, found in zip(weights, weighted(*grams, 2, weights, np.ones((4, 12)))):
        repeated = [sentence for sentence, times in zip(q, w) for _ in range(times)]
        expected = cr_nrr_cnd(repeated, p, 2)
        for field in ("cr", "nrr", "cnd", "nrr_unbiased", "cnd_unbiased", "nrr_cross_sentence"):
            assert getattr(found, field) == getattr(expected, field)


def test_intervals_hold_the_value_and_shrink():
    rng = np.random.default_rng(0)
    corpus = [rng.choice(list("abcdefgh"), 6).tolist() for _ in range(800)]
    small = intervals(corpus[:50], corpus[400:450], 1, samples=200, rng=rng)
    large = intervals(corpus[:400], corpus[400:], 1, samples=200, rng=rng)
    for field in ("cr", "nrr", "cnd"):
        value = getattr(cr_nrr_cnd(corpus[:50], corpus[400:450], 1), field)
        assert small[field][0] < value < small[field][1]
        assert large[field][1] - large[field][0] < small[field][1] - small[field][0]
    assert intervals([["a"]], [["a"]], 2, samples=5, rng=rng)["cr"] is None
