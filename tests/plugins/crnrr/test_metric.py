"""The metrics on joined and weighted statistics, against the corpus functions."""

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric, join_statistics
from harness.errors import HarnessError, UnknownName
from harness.run.features import FeatureCache
from harness_metrics.crnrr.metric import (
    NOTE,
    Cnd,
    Cr,
    Nrr,
    _counts,
    _result,
    _without_one,
    _without_two,
)
from harness_metrics.crnrr.words import grams_of, sides_of
from tests.support.ngram_values import cr_nrr_cnd

# --------------------------------------------------------------------------- jackknife
# Jackknife intervals of the pooled metrics.


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


# --------------------------------------------------------------------------- metrics

RNG = np.random.default_rng(3)


def text():
    return " ".join(RNG.choice(list("abcd"), RNG.integers(1, 7)))


def sets(count, n, m):
    return [
        CaptionSet(
            str(k), tuple(text() for _ in range(n)), tuple(text() for _ in range(m))
        )
        for k in range(count)
    ]


def stats_of(metric, items):
    features = FeatureCache()
    return metric.stats(features.batch(items), features, None)


def pool(items):
    q, p = (
        [t.split() for item in items for t in getattr(item, side)]
        for side in ("candidates", "references")
    )
    return q, p


METRICS = [Cr, Nrr, Cnd]


@pytest.mark.parametrize("kind", METRICS)
def test_all_are_metrics(kind):
    assert isinstance(kind(), Metric)


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_pooled_value_of_joined_shards_and_weights(kind, n):
    metric = kind(n=n, tokenizer="none")
    items = [*sets(6, 3, 2), *sets(4, 1, 5)]
    stats = join_statistics([stats_of(metric, items[:6]), stats_of(metric, items[6:])])
    expected = getattr(cr_nrr_cnd(*pool(items), n), metric.kind)
    assert metric.reduce(stats) == expected
    assert metric.reduce(stats, np.ones((1, 10)))[0] == expected
    twice = [*items, items[0], items[9]]
    weights = np.array([[2, 1, 1, 1, 1, 1, 1, 1, 1, 2], [0] * 9 + [1]])
    values = metric.reduce(stats, weights)
    assert values[0] == getattr(cr_nrr_cnd(*pool(twice), n), metric.kind)
    assert values[1] == getattr(
        cr_nrr_cnd(*pool(items[9:]), n), metric.kind
    ) or np.isnan(values[1])


@pytest.mark.parametrize(
    "metric",
    [
        Cr(tokenizer="none"),
        Nrr(tokenizer="none", form="cross-sentence"),
        Cnd(tokenizer="none", form="unbiased"),
    ],
)
def test_per_example_values_and_their_mean(metric):
    items = sets(8, 3, 4)
    stats = stats_of(metric, items)
    field = metric.fields[metric.form]
    expected = [getattr(cr_nrr_cnd(*pool([item]), 2), field) for item in items]
    expected = np.array([np.nan if value is None else value for value in expected])
    np.testing.assert_array_equal(metric.per_example(stats), expected)
    conditional = type(metric)(tokenizer="none", form=metric.form, conditional=True)
    assert conditional.reduce(stats) == pytest.approx(np.nanmean(expected), abs=1e-15)
    weights = RNG.integers(0, 3, (5, 8))
    np.testing.assert_allclose(
        conditional.reduce(stats, weights),
        [np.nansum(w * expected) / w[~np.isnan(expected)].sum() for w in weights],
    )


def test_orders_without_ngrams_are_undefined():
    metric = Cnd(n=9, tokenizer="none")
    stats = stats_of(metric, sets(3, 1, 1))
    assert np.isnan(metric.reduce(stats))
    assert np.isnan(metric.per_example(stats)).all()


def test_names_and_signatures_hold_the_parameters():
    assert Cnd().spec.name == "cnd2"
    assert (
        Nrr(n=3, form="unbiased", conditional=True).spec.name
        == "nrr3 unbiased conditional"
    )
    assert Cnd(n=3).signature() == "cnd|n:3|form:plug-in|pooled|tok:ptb"
    assert (Cnd().spec.higher_is_better, Cr().spec.higher_is_better) == (False, True)
    with pytest.raises(
        UnknownName, match="cr has no form 'unbiased'; forms are plug-in"
    ) as caught:
        Cr(form="unbiased")
    assert caught.value.parameter == "form"
    with pytest.raises(UnknownName, match="did you mean 'unbiased'"):
        Nrr(form="unbiassed")
    with pytest.raises(HarnessError, match="Cnd: n is 0") as caught:
        Cnd(n=0)
    assert (caught.value.parameter, caught.value.value) == ("n", 0)
