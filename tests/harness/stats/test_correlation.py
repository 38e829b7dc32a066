"""Correlations against scipy and the published tables."""

import gzip
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from harness.errors import InputError
from harness.stats.correlation import (
    SoftPairwiseAccuracy,
    across_systems,
    correlate_columns,
    pairwise_differences,
)
from tests.support.correlation import correlate

numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3))
columns = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=25)


@given(columns)
def test_all_three_agree_with_scipy(rows):
    from scipy import stats

    x, y = np.array(rows).T
    assume(np.ptp(x) > 1e-6 and np.ptp(y) > 1e-6)
    found = correlate(x, y)
    r, p = stats.pearsonr(x, y)
    assert found.r == pytest.approx(r, abs=1e-12)
    if abs(r) < 1 - 1e-9:  # nearer to 1 the p-value has only the digits of 1 - r
        assert found.p == pytest.approx(p, rel=1e-5, abs=1e-12)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.kendall == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert (found.n, found.note) == (len(rows), "")


def test_undefined_is_said_not_guessed():
    constant = correlate([1, 1, 1], [1, 2, 3])
    assert (
        constant.r,
        constant.r2,
        constant.p,
        constant.spearman,
        constant.kendall,
    ) == (None,) * 5
    assert constant.note == "x is constant"
    infinite = correlate([1, 2, math.inf], [1, 2, 3])
    assert (infinite.r, infinite.spearman, infinite.kendall) == (
        None,
        pytest.approx(1),
        pytest.approx(1),
    )
    assert infinite.note == "x holds inf"
    assert correlate([1, 2], [3, 4]).p == 1.0


def test_scale_does_not_matter():
    x = np.array([1.0, 2, 4, 3])
    y = np.array([1.0, 3, 2, 5])
    expected = correlate(x, y).r
    for factor in (1e-200, 1e200):
        assert correlate(x * factor, y).r == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "x, y, message",
    [
        ([1, 2, math.nan], [1, 2, 3], "x holds NaN in row 2 of column 0"),
        ([1, 2], [1, 2, 3], "cannot be correlated"),
        ([1], [1], "at least two rows; found 1"),
        ([], [], "at least two rows; found 0"),
    ],
)
def test_bad_columns(x, y, message):
    with pytest.raises(InputError, match=message):
        correlate(x, y)


@pytest.mark.slow
def test_the_published_correlations(golden):
    folder = golden / "pregen"
    with gzip.open(folder / "correlations_golden.json.gz", "rt") as file:
        golden = json.load(file)
    with gzip.open(folder / "data.txt.gz", "rt") as file:
        header, *rows = (line.rstrip("\n").split("\t") for line in file)
    table = {name: np.array([row[k] for row in rows]) for k, name in enumerate(header)}
    for at, group in enumerate(golden["order"]):
        inside = (
            np.ones(len(rows), dtype=bool)
            if group == "all"
            else table["dataset"] == group
        )
        for post, expected in golden["r"].items():
            names = list(expected)
            assert len(names) == 361
            x = np.stack([table[name][inside].astype(float) for name in names], axis=1)
            found = correlate_columns(x, table[post][inside].astype(float)[:, None])
            np.testing.assert_allclose(
                found.r[:, 0],
                [expected[name][at] for name in names],
                rtol=0,
                atol=1e-12,
            )
            np.testing.assert_allclose(
                found.r2[:, 0],
                [golden["r2"][post][name][at] for name in names],
                atol=1e-12,
            )


def test_coefficients_of_each_row():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 5, (4, 7)).astype(float)
    metric = rng.normal(size=(4, 7))
    for name, oracle in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        expected = [oracle(h, m)[0] for h, m in zip(human, metric)]
        np.testing.assert_allclose(
            across_systems(human, metric, name), expected, atol=1e-12
        )


def test_pairwise_accuracy():
    human = np.array([[1.0, 2, 3, 3]])
    metric = np.array([[1.0, 1, 2, 9]])
    # five judged pairs, one tie of the metric
    assert across_systems(human, metric, "accuracy")[0] == pytest.approx(4.5 / 5)
    assert np.isnan(across_systems(human, np.array([[1.0, 2, np.nan, 3]]), "accuracy"))
    assert np.isnan(across_systems(human, np.ones((1, 4)), "kendall"))


def by_hand(human, metric, weights, draws, seed):
    rng = np.random.default_rng([seed, human.shape[1]])
    signs = 1 - 2 * rng.integers(0, 2, size=(draws, human.shape[1]))
    total = 0.0
    pairs = 0
    for i, j in itertools.combinations(range(len(human)), 2):
        both = ~np.isnan(human[i] - human[j] + metric[i] - metric[j])
        if not both.any():
            continue
        p = []
        for values in (human, metric):
            d = weights[both] * (values[i] - values[j])[both]
            p.append(np.mean([(s[both] * d).sum() >= d.sum() - 1e-9 for s in signs]))
        total = total + abs(p[0] - p[1])
        pairs = pairs + 1
    return 1 - total / pairs


@pytest.mark.slow
def test_soft_pairwise_accuracy():
    rng = np.random.default_rng(5)
    human = rng.normal(size=(4, 30)) + np.arange(4)[:, None] * 0.4
    metric = human + rng.normal(size=(4, 30))
    human[2, 3] = np.nan
    weights = rng.integers(0, 3, (2, 30)).astype(float)
    values = SoftPairwiseAccuracy(
        *map(pairwise_differences, (human, metric)), draws=200, seed=1
    )(weights)
    np.testing.assert_allclose(
        values, [by_hand(human, metric, w, 200, 1) for w in weights], atol=1e-12
    )
    assert (
        SoftPairwiseAccuracy(*map(pairwise_differences, (human, human)), draws=50)(
            np.ones((1, 30))
        )[0]
        == 1.0
    )
    assert (
        SoftPairwiseAccuracy(*map(pairwise_differences, (human, -human)), draws=500)(
            np.ones((1, 30))
        )[0]
        < 0.5
    )
