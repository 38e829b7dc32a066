"""The metrics on joined and weighted statistics, against the corpus functions."""

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric, join_statistics
from harness.errors import HarnessError, UnknownName
from harness.run.features import FeatureCache
from harness_metrics.crnrr.metric import Cnd, Cr, Nrr
from tests.support.ngram_values import cr_nrr_cnd

RNG = np.random.default_rng(3)
METRICS = [Cr, Nrr, Cnd]


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
