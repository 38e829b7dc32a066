"""From a metric's scores to p-values: direction, method, budget,
what cannot be tested.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.contracts import CaptionSet, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats.permutation_p_values import plan
from harness.stats.significance import (
    extremeness,
    has_generic_null,
    metric_p_values,
    untestable_reason,
)


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
        lengths = np.array(
            [[len(text) for text in texts] for texts in batch.texts], dtype=float
        )
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


def test_larger_statistics_are_more_extreme_whatever_the_direction():
    labels = np.array([[True, True, False, False], [False, False, True, True]])
    for higher, sign in ((False, 1), (True, -1)):
        batch, features, _ = setting(Length(higher))
        assert (
            extremeness(Length(higher), batch, features, None, labels).tolist()
            == [[sign * 2.0, sign * -2.0]] * 3
        )


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
@pytest.mark.parametrize("unit", [1e-12, 1e-7, 1e12])
def test_the_unit_of_the_scores_changes_no_p_value(unit, method):
    class Scaled(Length):
        def _values(self, batch, labels):
            return super()._values(batch, labels) * unit

    values = []
    for metric in (Length(False), Scaled(False)):
        batch, features, observed = setting(
            metric, ("aa", "b", "cccc"), ("a", "aaaaa", "c")
        )
        values.append(
            metric_p_values(
                metric, batch, features, None, observed, method=method, draws=99
            ).values
        )
    assert np.array_equal(*values)


def test_chunks_respect_the_memory_bound_and_change_nothing():
    metric = Length(False)
    batch, features, observed = setting(
        metric, ("aa", "b", "cccc"), ("a", "aaaaa", "c")
    )
    whole = metric_p_values(metric, batch, features, None, observed)
    metric.rows.clear()
    parts = metric_p_values(
        metric, batch, features, None, observed, memory_bytes=32 * 3 * 4
    )
    assert np.array_equal(whole.values, parts.values)
    assert max(metric.rows) == 4


def test_beyond_the_budget_monte_carlo_is_used_and_said():
    metric = Exact(False)
    batch, features, observed = setting(metric)
    got = metric_p_values(
        metric, batch, features, None, observed, method="exact", budget=5, draws=99
    )
    assert (got.method, got.relabelings, got.floor) == ("monte-carlo", 99, 0.01)
    assert "6 relabelings, beyond the budget of 5" in got.note
    assert got.values == pytest.approx([1 / 6] * 3, abs=0.15)
    assert (got.values >= got.floor).all()
    again = metric_p_values(
        metric, batch, features, None, observed, method="exact", budget=5, draws=99
    )
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
        values = metric_p_values(
            metric, batch, features, None, observed, method=method, draws=9
        ).values
        assert np.isnan(values).tolist() == [True, False, False]


def test_what_cannot_be_tested_says_so():
    batch, features, observed = setting(Length())
    with pytest.raises(
        HarnessError, match="'length' has no p-values: it has no direction"
    ):
        metric_p_values(Length(None), batch, features, None, observed)
    fixed = Length()
    fixed.spec = replace(fixed.spec, untestable="reads a scene")
    with pytest.raises(
        HarnessError, match="'length' has no p-values: it reads a scene"
    ):
        metric_p_values(fixed, batch, features, None, observed)


class Share(MeanMetric):
    """Share of the candidates that are equal to a reference,
    without a null of its own.
    """

    def __init__(self, **fields: Any) -> None:
        self.spec = MetricSpec(**{"name": "share", "higher_is_better": True, **fields})

    def scores(self, batch, features, state):
        out = [
            np.mean([text in texts[batch.n :] for text in texts[: batch.n]])
            for texts in batch.texts
        ]
        return np.array(out, dtype=float)


class Corpus:
    """A metric of the corpus that is no MeanMetric."""

    spec = MetricSpec("corpus", True, "corpus")


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        (Share(), ""),
        (Length(), ""),
        (
            Share(higher_is_better=None),
            "has no direction: no score is more extreme than another",
        ),
        (
            Share(needs=frozenset()),
            "reads the candidates alone and defines no permutation null",
        ),
        (
            Share(needs=frozenset({"images", "references"})),
            "reads images and defines no permutation null",
        ),
        (Corpus(), "is a number of the corpus and defines no permutation null"),
    ],
)
def test_the_reason_for_missing_p_values(metric: Any, reason):
    assert untestable_reason(metric) == reason


def test_a_null_of_its_own_serves_metrics_of_any_input():
    metric = Length()
    metric.spec = MetricSpec("length", True, needs=frozenset())
    assert untestable_reason(metric) == ""
    assert not has_generic_null(metric)
    assert has_generic_null(Share())


def test_the_generic_null_gives_the_enumerated_p_value():
    metric = Share()
    texts = ("a", "b", "b", "c", "d")
    batch, features, observed = setting(metric, texts[:2], texts[2:])
    p = metric_p_values(metric, batch, features, None, observed)
    shares: list[float] = []
    for pair in itertools.combinations(range(5), 2):
        others = [texts[k] for k in range(5) if k not in pair]
        shares.append(sum(texts[k] in others for k in pair) / 2)
    assert p.values == pytest.approx([np.mean(np.array(shares) <= 0.5)] * 3)
    assert (p.method, p.relabelings) == ("exact", 10)


def test_a_null_of_the_wrong_shape_is_named():
    class Wrong(Length):
        def null(self, batch, features, state, labels):
            return np.zeros((1, len(labels)))

    metric = Wrong(True)
    batch, features, observed = setting(metric)
    with pytest.raises(
        HarnessError, match=r"Wrong.null returned shape \(1, 6\); expected \(3, 6\)"
    ):
        metric_p_values(metric, batch, features, None, observed)


def test_floor_is_the_designs():
    assert plan(10, 5).floor == 1 / 3003


@pytest.mark.parametrize("shape", [(3, 5), (3, 7), (2, 6), (4, 6)])
def test_a_null_of_another_shape_is_an_error(shape):
    class Wrong(Length):
        def null(self, batch, features, state, labels):
            return np.zeros(shape)

    batch, features, observed = setting(Wrong())
    with pytest.raises(
        HarnessError, match=r"Wrong.null returned shape .*; expected \(3, 6\)"
    ):
        metric_p_values(Wrong(), batch, features, None, observed)


def test_chunks_of_labels_do_not_change_a_p_value():
    batch, features, observed = setting(
        Length(False), ("aa", "b", "cccc"), ("a", "aaaaa", "c")
    )
    whole = Length(False)
    parts = Length(False)
    expected = metric_p_values(whole, batch, features, None, observed).values
    assert np.array_equal(
        metric_p_values(
            parts, batch, features, None, observed, memory_bytes=400
        ).values,
        expected,
    )
    assert len(parts.rows) > len(whole.rows) == 1
