"""Confidence sequences of metrics: bounds, addends, order of the units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.analysis.score_logs import LoggedScore
from harness.contracts import MeanMetric, MetricSpec, SumMetric
from harness.errors import HarnessError
from harness.registry import current
from harness.run.sequences import (
    mean_bounds,
    metric_looks,
    random_order,
    spread_addends,
    verify_addends,
)
from harness.stats.anytime import asymptotic_looks, betting_looks, shift_look


def metric(name, **parameters):
    return current().create("metrics", name, {"tokenizer": "none", **parameters})


def test_bounds_are_declared_by_means_of_scores_alone():
    assert mean_bounds(metric("rouge")) == (0.0, 1.0)
    assert mean_bounds(metric("cider")) == (0.0, 10.0)
    assert mean_bounds(metric("bleu4")) is None, (
        "a ratio of sums, although it has bounds"
    )
    assert mean_bounds(metric("distinct", n=2)) is None


def test_addends_give_the_reported_number_or_are_refused(monkeypatch):
    rouge = metric("rouge")
    rows = np.random.default_rng(0).uniform(0, 1, (9, 1))
    addends = verify_addends(rouge, rows)
    assert addends is not None
    assert rouge.of_sums(addends.sum(axis=0, keepdims=True))[0] == pytest.approx(
        rows.mean()
    )
    monkeypatch.setattr(
        type(rouge), "reduce", lambda self, stats, weights=None: float(np.median(stats))
    )
    assert verify_addends(rouge, rows) is None, "a reduction of its own"

    def unfitted(self, stats, weights=None):
        raise HarnessError("not fitted")

    monkeypatch.setattr(type(rouge), "reduce", unfitted)
    assert verify_addends(rouge, rows) is None


def test_the_order_of_a_subset_is_that_within_the_whole():
    names = [f"e{k}" for k in range(50)]
    whole = [names[k] for k in random_order(names, 3)]
    assert sorted(whole) == sorted(names) and whole != names
    assert [names[k] for k in random_order(names[:20], 3)] == [
        name for name in whole if name in names[:20]
    ]
    assert whole != [names[k] for k in random_order(names, 4)]
    assert random_order(["a"] * 3, 0).tolist() == [0, 1, 2], (
        "units of one name keep their order"
    )


def test_means_within_bounds_have_the_betting_sequence():
    rng = np.random.default_rng(1)
    rouge = metric("rouge")
    a, b = (np.column_stack([rng.uniform(0, 1, 80), np.ones(80)]) for _ in range(2))
    sizes = np.ones(80)
    assert metric_looks(rouge, a, b, sizes, [40, 80]) == betting_looks(
        (a - b)[:, 0], sizes, 1.0, [40, 80]
    )
    (one,) = metric_looks(rouge, a, None, sizes, [80])
    assert one.difference == pytest.approx(a[:, 0].mean())
    assert 0 < one.low < one.difference < one.high < 1
    (known,) = metric_looks(rouge, a, None, sizes, [80], population=80)
    assert (known.low, known.high) == pytest.approx((a[:, 0].mean(),) * 2)


def test_the_sequence_of_a_mean_has_the_scale_of_its_range():
    scores = np.random.default_rng(1).uniform(0, 1, 80)
    sizes = np.ones(80)
    of_one, of_ten = (
        metric_looks(
            metric(name),
            np.column_stack([largest * scores, sizes]),
            None,
            sizes,
            [40, 80],
        )
        for name, largest in (("rouge", 1), ("cider", 10))
    )
    for one, ten in zip(of_one, of_ten):
        assert (ten.low, ten.difference, ten.high) == pytest.approx(
            (10 * one.low, 10 * one.difference, 10 * one.high)
        )


def within_one(looks):
    """The looks with intervals in [0, 1]."""
    return [
        replace(look, low=max(look.low, 0.0), high=min(look.high, 1.0))
        for look in looks
    ]


def test_ratios_of_sums_have_the_asymptotic_sequence_and_no_population():
    rng = np.random.default_rng(2)
    bleu = metric("bleu4")
    width = 10
    rows = rng.integers(3, 9, (250, width)).astype(float)
    looks = metric_looks(bleu, rows, None, np.ones(250), [200, 250])
    assert looks == within_one(
        asymptotic_looks(bleu.of_sums, rows, None, [200, 250], reach=np.ones(250))
    )
    widened = metric_looks(bleu, rows, None, np.ones(250), [200, 250], largest=30.0)
    assert widened == within_one(
        asymptotic_looks(bleu.of_sums, rows, None, [200, 250], reach=np.full(250, 30.0))
    )
    assert widened[0].low < looks[0].low
    with pytest.raises(HarnessError, match="no statement on the mean of a data set"):
        metric_looks(bleu, rows, None, np.ones(250), [250], population=250)


class Bounded(MeanMetric):
    """A mean of given bounds, whose reported number is its mean times a factor."""

    def __init__(self, bounds, factor=1.0):
        self.spec = MetricSpec("bounded", True, bounds=bounds)
        self.factor = factor

    def reduce(self, stats, weights=None):
        return self.factor * super().reduce(stats, weights)


def test_a_range_is_that_of_the_largest_cluster_so_far():
    rng = np.random.default_rng(4)
    sizes = np.array([1.0, 1.0, 4.0] * 100)
    metric = Ratio((0.0, 2.0))
    a, b = (np.column_stack([sizes * rng.uniform(0, 2, 300), sizes]) for _ in range(2))
    (look,) = metric_looks(metric, a, b, sizes, [300], unit="clusters")
    reach = 2.0 * np.maximum.accumulate(sizes) / (np.cumsum(sizes) / np.arange(1, 301))
    assert reach[-1] == pytest.approx(4.0)
    assert [look] == asymptotic_looks(
        metric.of_sums, a, b, [300], reach=reach, unit="clusters"
    )
    (early,) = metric_looks(metric, a, b, sizes, [120], unit="clusters")
    assert early.waits == "120 of 200 clusters"


def test_the_interval_of_a_ratio_stays_within_its_range():
    sizes = np.ones(400)
    rng = np.random.default_rng(5)
    scores = (rng.random(400) < 0.01) * rng.uniform(0.9, 1.0, 400)
    a, b = (np.column_stack([column, sizes]) for column in (scores, 1 - scores))
    metric = Ratio((0.0, 1.0))
    (low,), (high,), (apart,) = (
        metric_looks(metric, x, y, sizes, [400])
        for x, y in ((a, None), (b, None), (a, b))
    )
    assert low.low == 0.0 < low.difference < low.high < 1
    assert high.high == 1.0 > high.difference > high.low > 0
    assert apart.low == -1.0 and apart.p_value < 0.05


def test_a_logged_score_bets_within_the_range_that_was_declared_for_it():
    rng = np.random.default_rng(6)
    values = (rng.random((2, 300)) < [[0.9], [0.5]]).astype(float)
    a, b = (np.column_stack([column, np.ones(300)]) for column in values)
    (declared,) = metric_looks(
        LoggedScore("acc", (0.0, 1.0)), a, b, np.ones(300), [300]
    )
    assert [declared] == betting_looks(
        (a - b)[:, 0], np.ones(300), 1.0, [300]
    ) and declared.low > 0
    (unknown,) = metric_looks(LoggedScore("acc"), a, b, np.ones(300), [300])
    assert (
        unknown.waits == "3 different values, 40 are needed without a declared range"
        and unknown.p_value == 1.0
    )


class Ratio(SumMetric):
    """A ratio of sums of given bounds."""

    def __init__(self, bounds):
        self.spec = MetricSpec("ratio", True, bounds=bounds)

    def of_sums(self, sums):
        return sums[..., 0] / sums[..., 1]


def test_bounds_that_are_not_finite_are_none():
    assert mean_bounds(Bounded((-1.0, 3.0))) == (-1.0, 3.0)
    assert (
        mean_bounds(Bounded((0.0, np.inf)))
        is mean_bounds(Bounded((-np.inf, 1.0)))
        is mean_bounds(Bounded(None))
        is None
    )


@pytest.mark.parametrize(
    ("factor", "agree"),
    [(1.0, True), (1 + 1e-12, True), (1 + 1e-8, False), (1 - 1e-8, False)],
)
def test_addends_agree_with_the_number_to_nine_digits(factor, agree):
    rows = np.array([[0.25], [0.75], [0.5]])
    addends = verify_addends(Bounded((0.0, 1.0), factor), rows)
    assert (addends is not None) == agree
    if addends is not None:
        assert addends.tolist() == [[0.25, 1.0], [0.75, 1.0], [0.5, 1.0]]


def test_addends_of_no_example_give_no_number_and_agree():
    assert verify_addends(Bounded((0.0, 1.0)), np.zeros((0, 1))).shape == (0, 2)


def test_examples_without_a_score_have_addends_of_zero():
    rows = np.array([[0.25], [np.nan], [0.5], [0.125]])
    defined = np.array([True, False, True, True])
    assert spread_addends(Bounded((0.0, 1.0)), rows, defined).tolist() == [
        [0.25, 1.0],
        [0.0, 0.0],
        [0.5, 1.0],
        [0.125, 1.0],
    ]
    assert spread_addends(Bounded((0.0, 1.0), 2.0), rows, defined) is None


def test_the_sequence_of_means_of_other_bounds_is_that_of_what_they_can_differ_by():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, 60).astype(float)
    a, b = (np.column_stack([sizes * rng.uniform(2, 6, 60), sizes]) for _ in range(2))
    metric = Bounded((2.0, 6.0))
    looks = [30, 60]
    assert metric_looks(metric, a, b, sizes, looks) == betting_looks(
        (a - b)[:, 0], sizes, 4.0, looks
    )
    # scores differ from 4, the middle, by at most 2
    alone = betting_looks(a[:, 0] - 4.0 * sizes, sizes, 2.0, looks)
    assert metric_looks(metric, a, None, sizes, looks) == [
        shift_look(look, 4.0) for look in alone
    ]
