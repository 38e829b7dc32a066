"""Weighted coefficients equal scipy's on repeated rows,
and tau within groups equals scipy's group by group.
"""

import numpy as np
import pytest
from scipy import stats

from harness.stats.weighted_correlation import (
    Detection,
    Kendall,
    Pearson,
    Spearman,
    in_chunks,
    pairs_within,
    within_groups,
)

ORACLES = {
    "pearson": (Pearson, stats.pearsonr),
    "spearman": (Spearman, stats.spearmanr),
    "tau-b": (Kendall, stats.kendalltau),
    "tau-c": (
        lambda x, y: Kendall(x, y, "c"),
        lambda x, y: stats.kendalltau(x, y, variant="c"),
    ),
}


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("levels", [(5, 3), (1000, 9), (7, 1000), (2, 2)])
def test_weights_are_repetitions(name, levels):
    make, oracle = ORACLES[name]
    rng = np.random.default_rng(levels[0])
    n = 120
    x = rng.integers(0, levels[0], n) + 0.1
    y = rng.integers(0, levels[1], n) * 0.3
    weights = rng.multinomial(n, np.full(n, 1 / n), 6).astype(float)
    weights[0] = 1
    expected = [
        oracle(np.repeat(x, w.astype(int)), np.repeat(y, w.astype(int)))[0]
        for w in weights
    ]
    np.testing.assert_allclose(make(x, y)(weights), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ORACLES)
def test_constant_columns_are_undefined(name):
    make, _ = ORACLES[name]
    assert np.isnan(make(np.ones(5), np.arange(5.0))(np.ones((1, 5)))).all()
    assert np.isnan(make(np.arange(5.0), np.full(5, 0.1))(np.ones((1, 5)))).all()
    one_row = np.array([[0.0, 0, 3, 0, 0]])  # a resample that holds one row alone
    assert np.isnan(make(np.arange(5.0), np.arange(5.0))(one_row)).all()


def test_a_large_mean_costs_no_digits():
    x = np.arange(50.0)
    np.testing.assert_allclose(Pearson(x + 1e9, x)(np.ones((1, 50))), 1.0, atol=1e-12)


def test_chunks_give_the_same_values(monkeypatch):
    rng = np.random.default_rng(0)
    kendall = Kendall(rng.random(30), rng.random(30))
    weights = rng.integers(0, 3, (9, 30)).astype(float)
    whole = kendall(weights)
    monkeypatch.setattr("harness.stats.weighted_correlation.CELLS", 60)
    np.testing.assert_array_equal(kendall(weights), whole)
    assert (
        in_chunks(lambda w: w.sum(axis=1), weights).tolist()
        == weights.sum(axis=1).tolist()
    )


def test_tau_within_groups():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 8, 60)
    x = rng.integers(0, 4, 60).astype(float)
    y = rng.integers(0, 3, 60).astype(float)
    x[group == 2] = 5.0  # a metric that ties everything has no agreement
    y[group == 3] = 1.0  # people who tie everything judge nothing
    tau = within_groups(x, y, group, 9)
    assert tau[2] == 0
    assert np.isnan(tau[3]) and np.isnan(tau[8])
    for k in (0, 1, 4, 5, 6, 7):
        assert tau[k] == pytest.approx(
            stats.kendalltau(x[group == k], y[group == k])[0]
        )


def test_pairs_of_one_group():
    group = np.array([0, 1, 0, 1, 1, 2])
    expected = {
        (i, j) for i in range(6) for j in range(i + 1, 6) if group[i] == group[j]
    }
    assert set(zip(*(part.tolist() for part in pairs_within(group)))) == expected
    assert len(pairs_within(np.arange(4))[0]) == 0


metrics = pytest.importorskip("sklearn.metrics")


@pytest.mark.parametrize("levels", [3, 8, 10_000])
def test_measures_with_ties_and_repeated_rows(levels):
    rng = np.random.default_rng(levels)
    scores = rng.integers(0, levels, 90) / 7
    positive = rng.random(90) < 0.3
    weights = rng.multinomial(90, np.full(90, 1 / 90), 5).astype(float)
    weights[0] = 1
    for measure, oracle in (
        ("average_precision", metrics.average_precision_score),
        ("auc", metrics.roc_auc_score),
    ):
        expected = [
            oracle(np.repeat(positive, w.astype(int)), np.repeat(scores, w.astype(int)))
            for w in weights
        ]
        np.testing.assert_allclose(
            Detection(scores, positive, measure)(weights), expected, atol=1e-12
        )


def test_one_class_is_undefined():
    assert np.isnan(
        Detection(np.arange(3.0), np.ones(3, dtype=bool), "auc")(np.ones((1, 3)))
    ).all()


def test_a_metric_that_ties_everything():
    label = np.array([True, False, False, False])
    assert Detection(np.ones(4), label, "auc")(np.ones((1, 4)))[0] == 0.5
    assert Detection(np.ones(4), label, "average_precision")(np.ones((1, 4)))[0] == 0.25
