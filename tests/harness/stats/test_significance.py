"""From a metric's scores to p-values: direction, method, budget, what cannot be tested."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness.stats.significance import metric_p_values


class Length(MeanMetric):
    """Mean candidate length less mean reference length."""

    def __init__(self, higher: bool | None = True) -> None:
        self.spec = MetricSpec(name="length", higher_is_better=higher, level="set")
        self.rows: list[int] = []

    def scores(self, batch, features, state):
        return self._values(batch, (np.arange(batch.n + batch.m) < batch.n)[None])[:, 0]

    def null(self, batch, features, state, labels):
        self.rows.append(len(labels))
        return self._values(batch, labels)

    def _values(self, batch, labels):
        lengths = np.array([[len(text) for text in texts] for texts in batch.texts], dtype=float)
        return lengths @ (labels / batch.n - ~labels / batch.m).T


class Exact(Length):
    def exact_p_values(self, batch, features, state):
        return np.full(len(batch), 0.25)


def setting(metric, candidates=("aaaa", "aaa"), references=("a", "aa")):
    features = FeatureCache()
    batch = features.batch([CaptionSet("1", candidates, references)] * 3)
    return batch, features, metric.per_example(metric.stats(batch, features, None))


@pytest.mark.parametrize("higher,wanted", [(False, 1 / 6), (True, 1.0)])
def test_more_extreme_follows_the_direction(higher, wanted):
    metric = Length(higher)
    batch, features, observed = setting(metric)
    got = metric_p_values(metric, batch, features, None, observed)
    assert got.values == pytest.approx([wanted] * 3)
    assert (got.method, got.relabelings, got.floor, got.note) == ("exact", 6, 1 / 6, "")


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
@pytest.mark.parametrize("unit", [1e-12, 1e-7, 1e12])
def test_the_unit_of_the_scores_changes_no_p_value(unit, method):
    class Scaled(Length):
        def _values(self, batch, labels):
            return super()._values(batch, labels) * unit

    values = []
    for metric in (Length(False), Scaled(False)):
        batch, features, observed = setting(metric, ("aa", "b", "cccc"), ("a", "aaaaa", "c"))
        values.append(metric_p_values(metric, batch, features, None, observed, method=method, draws=99).values)
    assert np.array_equal(*values)


def test_chunks_respect_the_memory_bound_and_change_nothing():
    metric = Length(False)
    batch, features, observed = setting(metric, ("aa", "b", "cccc"), ("a", "aaaaa", "c"))
    whole = metric_p_values(metric, batch, features, None, observed)
    metric.rows.clear()
    parts = metric_p_values(metric, batch, features, None, observed, memory_bytes=32 * 3 * 4)
    assert np.array_equal(whole.values, parts.values)
    assert max(metric.rows) == 4


def test_beyond_the_budget_monte_carlo_is_used_and_said():
    metric = Exact(False)
    batch, features, observed = setting(metric)
    got = metric_p_values(metric, batch, features, None, observed, method="exact", budget=5, draws=99)
    assert (got.method, got.relabelings, got.floor) == ("monte-carlo", 99, 0.01)
    assert "6 relabelings, beyond the budget of 5" in got.note
    assert got.values == pytest.approx([1 / 6] * 3, abs=0.15)
    assert (got.values >= got.floor).all()
    again = metric_p_values(metric, batch, features, None, observed, method="exact", budget=5, draws=99)
    assert np.array_equal(got.values, again.values)


def test_a_metrics_own_exact_test_is_used():
    metric = Exact(False)
    batch, features, observed = setting(metric)
    got = metric_p_values(metric, batch, features, None, observed)
    assert got.values.tolist() == [0.25] * 3
    assert metric.rows == []


def test_undefined_scores_have_no_p_value():
    metric = Exact(False)
    batch, features, observed = setting(metric)
    observed = np.array([np.nan, *observed[1:]])
    for method in ("exact", "monte-carlo"):
        values = metric_p_values(metric, batch, features, None, observed, method=method, draws=9).values
        assert np.isnan(values).tolist() == [True, False, False]


def test_what_cannot_be_tested_says_so():
    batch, features, observed = setting(Length())
    with pytest.raises(HarnessError, match="'length' has no direction"):
        metric_p_values(Length(None), batch, features, None, observed)
    untestable = type("Untestable", (MeanMetric,), {"spec": Length().spec})()
    with pytest.raises(HarnessError, match="'length' has no p-values"):
        metric_p_values(untestable, batch, features, None, observed)


def test_a_null_of_the_wrong_shape_is_named():
    class Wrong(Length):
        def null(self, batch, features, state, labels):
            return np.zeros((1, len(labels)))

    metric = Wrong(True)
    batch, features, observed = setting(metric)
    with pytest.raises(HarnessError, match=r"Wrong.null returned shape \(1, 6\); expected \(3, 6\)"):
        metric_p_values(metric, batch, features, None, observed)


def test_floor_is_the_designs():
    assert permutation.plan(10, 5).floor == 1 / 3003
