"""Weighted pre-gen metrics against the metrics of repeated images; reasons for no
interval.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import HasTokenIntervals, TokenScores
from harness.stats import bootstrap
from harness_metrics.pregen import functions, intervals
from harness_metrics.pregen.metric import Pregen
from harness_metrics.pregen.tokens import FlatTokens, flatten


def scores(*images):
    return [
        [TokenScores(np.log(p), np.zeros(len(p), dtype=int)) for p in image]
        for image in images
    ]


def tokens(images: int, seed: int = 0, zero: bool = False) -> FlatTokens:
    rng = np.random.default_rng(seed)
    dataset = [
        [
            list(
                zip(
                    rng.beta(2, 2, length).tolist(),
                    (rng.geometric(0.6, length) - 1).tolist(),
                )
            )
            for length in rng.integers(3, 9, rng.integers(1, 5))
        ]
        for _ in range(images)
    ]
    if zero:
        dataset[0] = [[(0.0, 9)]]
    return flatten(dataset)


def test_weighted_images_count_as_often_as_they_weigh():
    flat = tokens(30)
    rows = functions.rows_by_name(flat, functions.NAMES)
    names = [
        name
        for name in functions.NAMES
        if intervals._reason(name, rows[name]) == "" and np.isfinite(rows[name]).all()
    ]
    weights = (
        np.random.default_rng(1).multinomial(30, [1 / 30] * 30, size=3).astype(float)
    )

    members = np.repeat(np.arange(30), np.diff(flat.images))
    values = intervals._weigh_images(rows, names, weights, members)
    for row, weight in zip(values, weights):
        repeated = flat.take(np.repeat(np.arange(30), weight.astype(int)))
        np.testing.assert_allclose(row, functions.evaluate(repeated, names), rtol=1e-9)

    assert {name.split("_")[0] for name in names} == {
        "sum",
        "mean",
        "median",
        "geomean",
    }


def test_the_mean_of_images_has_the_interval_of_a_mean():
    flat = tokens(40)
    name = "mean_max_normcount_prefix0"
    scores = functions.per_image(flat, [name])[0]
    expected = bootstrap.confidence_interval(
        lambda w: w @ scores / w.sum(axis=1), 40, 200, 3
    )
    assert Pregen().intervals(flat, 200, 3)[name].ends == pytest.approx(expected)
    assert isinstance(Pregen(), HasTokenIntervals)


@pytest.mark.parametrize("images", [25, bootstrap.SMALL])
def test_values_lie_in_their_intervals(images):
    flat = tokens(images)
    names = (
        "sum_mean_prob_none",
        "median_join_prob_none",
        "mean_join_pplx_none",
        "geomean_mean_pplx_none",
    )
    values = functions.evaluate(flat, names)
    for name, value in zip(names, values):
        ends = intervals.intervals(flat, names, 100, 0)[name].ends
        assert ends is not None
        assert ends[0] < value < ends[1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("max_mean_prob_none", intervals.EXTREME),
        ("min_join_prob_none", intervals.EXTREME),
        ("geomean_mean_prob_none", intervals.ZERO),
        ("mean_mean_pplx_none", intervals.INFINITE),
    ],
)
def test_no_interval_has_its_reason(name, reason):
    result = intervals.intervals(tokens(20, zero=True), [name], 50, 0)[name]
    assert (result.ends, result.note) == (None, reason)
