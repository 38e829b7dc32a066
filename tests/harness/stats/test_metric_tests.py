"""Tests between metrics: published numbers, an independent form, size under the null
hypothesis, power, clusters.
"""

import math

import numpy as np
import pytest
from scipy import stats

from harness.stats.metric_tests import (
    KendallOfScores,
    clusters,
    permute_credit,
    permute_scores,
    williams,
)


def pearson_with(human):
    return lambda scores: np.corrcoef(human, scores)[0, 1:]


def test_the_example_of_psych():
    # r.test(103, .4, .5, .1) of the R package psych: t = -0.89, probability 0.37.
    assert williams(0.4, 0.5, 0.1, 103) == (
        pytest.approx(-0.89, abs=0.005),
        pytest.approx(0.37, abs=0.005),
    )


@pytest.mark.parametrize("seed", range(5))
def test_against_the_determinant_of_the_correlation_matrix(seed):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    r = np.corrcoef(data.T)
    n = 40
    denominator = (
        2 * (n - 1) / (n - 3) * np.linalg.det(r)
        + ((r[0, 1] + r[0, 2]) / 2) ** 2 * (1 - r[1, 2]) ** 3
    )
    t = (r[0, 1] - r[0, 2]) * math.sqrt((n - 1) * (1 + r[1, 2]) / denominator)
    p = 2 * stats.t.sf(abs(t), n - 3)
    assert williams(r[0, 1], r[0, 2], r[1, 2], n) == (
        pytest.approx(t),
        pytest.approx(p),
    )
    assert williams(r[0, 2], r[0, 1], r[1, 2], n) == (
        pytest.approx(-t),
        pytest.approx(p),
    )


def test_edges_of_williams():
    assert williams(0.5, 0.5, 1.0, 50)[1] == 1.0
    assert math.isnan(williams(0.5, 0.4, 0.3, 3)[1])
    # no variance: both metrics lie on a line
    assert williams(1.0, -1.0, -1.0, 30) == (math.inf, 0.0)
    assert williams(-1.0, 1.0, -1.0, 30) == (-math.inf, 0.0)
    assert math.isnan(williams(float("nan"), 0.4, 0.3, 30)[1])


def test_size_of_williams():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(1000):
        human = rng.normal(size=40)
        a, b = (0.6 * human + rng.normal(size=40) for _ in range(2))
        r = np.corrcoef([human, a, b])
        p.append(williams(r[0, 1], r[0, 2], r[1, 2], 40)[1])
    assert 0.03 < np.mean(np.array(p) <= 0.05) < 0.075


def test_size_and_power_of_perm_both():
    rng = np.random.default_rng(1)
    null = []
    alternative = []
    for seed in range(150):
        human = rng.normal(size=60)
        a = human + rng.normal(size=60)
        b = human + rng.normal(size=60)
        worse = rng.normal(size=60)
        null.append(permute_scores(pearson_with(human), a, b, draws=99, seed=seed))
        if seed < 10:
            alternative.append(
                permute_scores(pearson_with(human), a, worse, draws=999, seed=seed)
            )
    assert np.mean(np.array(null) <= 0.1) < 0.2
    assert max(alternative) < 0.05


def test_scales_and_equal_metrics_do_not_matter():
    rng = np.random.default_rng(2)
    human, a, b = rng.normal(size=(3, 50))
    value = permute_scores(pearson_with(human), a, b, draws=200)
    assert permute_scores(
        pearson_with(human), 1e6 * a + 5, b, draws=200
    ) == pytest.approx(value)
    assert permute_scores(pearson_with(human), a, 3 * a + 1, draws=200) == 1.0


def test_ratings_of_one_caption_are_exchanged_together():
    seen = []
    human = np.repeat(np.arange(5.0), 2)

    def statistic(scores):
        seen.append(scores)
        return scores @ human

    a = np.repeat([1.0, 3, 2, 5, 4], 2)
    permute_scores(statistic, a, -a, unit=np.repeat(np.arange(5), 2), draws=20)
    drawn = np.concatenate(seen)
    np.testing.assert_array_equal(drawn[:, ::2], drawn[:, 1::2])


def test_credits_are_exchanged_by_item():
    a = np.array([1.0, 1, 1, 1, np.nan])
    b = np.array([0.0, 0, 0, 0, 1])
    p = permute_credit(a, b, np.array([0, 1, 2, 3, 3]), draws=4000, seed=0)
    assert p == pytest.approx(2 / 16, abs=0.02)
    assert permute_credit(a, b, np.zeros(5, dtype=int), draws=100) == 1.0
    assert math.isnan(permute_credit(np.array([np.nan]), b[:1], np.array([0])))


@pytest.mark.parametrize("variant", ["b", "c"])
@pytest.mark.parametrize("levels", [2, 6, 500])
def test_kendall_of_scores(variant, levels):
    rng = np.random.default_rng(levels)
    human = rng.integers(0, levels, 80).astype(float)
    scores = np.stack([rng.integers(0, 9, 80), rng.normal(size=80)])
    expected = [stats.kendalltau(row, human, variant=variant)[0] for row in scores]
    np.testing.assert_allclose(
        KendallOfScores(human, variant)(scores), expected, atol=1e-12
    )
    assert np.isnan(KendallOfScores(human, variant)(np.ones((1, 80)))).all()


def test_kendall_of_several_ratings_of_a_caption():
    rng = np.random.default_rng(0)
    unit = rng.permutation(np.repeat(np.arange(30), 3))
    human = rng.integers(1, 5, 90).astype(float)
    score = rng.integers(0, 12, 30).astype(float)
    for variant in "bc":
        value = KendallOfScores(human, variant, unit)(score[unit][None])
        assert value[0] == pytest.approx(
            stats.kendalltau(score[unit], human, variant=variant)[0]
        )


def test_clusters_begin_where_a_metric_is_worse_than_a_member():
    p = np.full((4, 4), 0.5)
    p[0, 2] = p[2, 0] = 0.01
    p[2, 3] = p[3, 2] = 0.04
    assert clusters([0.9, 0.8, 0.7, 0.1], p) == [1, 1, 2, 3]
    assert clusters([0.1, 0.7, 0.8, float("nan")], p) == [2, 1, 1, None]
    assert clusters([0.3, 0.2], np.full((2, 2), np.nan)) == [1, 1]
