"""Agreement on systems against scipy, and soft pairwise accuracy against a plain loop."""

import itertools

import numpy as np
import pytest
from scipy import stats

from harness.stats.system_agreement import SoftPairwiseAccuracy, across_systems


def test_coefficients_of_each_row():
    rng = np.random.default_rng(0)
    human, metric = rng.integers(0, 5, (4, 7)).astype(float), rng.normal(size=(4, 7))
    for name, oracle in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        expected = [oracle(h, m)[0] for h, m in zip(human, metric)]
        np.testing.assert_allclose(across_systems(human, metric, name), expected, atol=1e-12)


def test_pairwise_accuracy():
    human, metric = np.array([[1.0, 2, 3, 3]]), np.array([[1.0, 1, 2, 9]])
    assert across_systems(human, metric, "accuracy")[0] == pytest.approx(4.5 / 5)  # five judged pairs, one tie of the metric
    assert np.isnan(across_systems(human, np.array([[1.0, 2, np.nan, 3]]), "accuracy"))
    assert np.isnan(across_systems(human, np.ones((1, 4)), "kendall"))


def by_hand(human, metric, weights, draws, seed):
    rng = np.random.default_rng([seed, human.shape[1]])
    signs = 1 - 2 * rng.integers(0, 2, size=(draws, human.shape[1]))
    total, pairs = 0.0, 0
    for i, j in itertools.combinations(range(len(human)), 2):
        both = ~np.isnan(human[i] - human[j] + metric[i] - metric[j])
        if not both.any():
            continue
        p = []
        for values in (human, metric):
            d = weights[both] * (values[i] - values[j])[both]
            p.append(np.mean([(s[both] * d).sum() >= d.sum() - 1e-9 for s in signs]))
        total, pairs = total + abs(p[0] - p[1]), pairs + 1
    return 1 - total / pairs


def test_soft_pairwise_accuracy():
    rng = np.random.default_rng(5)
    human = rng.normal(size=(4, 30)) + np.arange(4)[:, None] * 0.4
    metric = human + rng.normal(size=(4, 30))
    human[2, 3] = np.nan
    weights = rng.integers(0, 3, (2, 30)).astype(float)
    values = SoftPairwiseAccuracy(human, metric, draws=200, seed=1)(weights)
    np.testing.assert_allclose(values, [by_hand(human, metric, w, 200, 1) for w in weights], atol=1e-12)
    assert SoftPairwiseAccuracy(human, human, draws=50)(np.ones((1, 30)))[0] == 1.0
    assert SoftPairwiseAccuracy(human, -human, draws=500)(np.ones((1, 30)))[0] < 0.5
