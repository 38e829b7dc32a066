"""Intervals of labels within bounds: samples, clusters, finite populations, strata,
and designs without one.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.statistics.bounded_labels import (
    CLUSTERED_STRATA,
    UNEQUAL,
    bounded_labels_interval,
)
from harness.decisions.statistics.bounded_mean import betting_interval


def labels_of(scores, size):
    return np.array([*scores, *np.full(size - len(scores), np.nan)])


@pytest.mark.parametrize(
    "scores", [[4.0, 5.0, 5.0], [5.0] * 10, [1.0, 2.0, 5.0, 5.0, 3.0]]
)
def test_a_random_sample_has_the_betting_interval(scores):
    interval, reason = bounded_labels_interval(labels_of(scores, 50), 1.0, 5.0)
    assert reason == "" and interval == betting_interval(np.array(scores), 1.0, 5.0)
    equal, _ = bounded_labels_interval(
        labels_of(scores, 50), 1.0, 5.0, probabilities=np.full(50, 0.2)
    )
    assert equal == interval


def test_equal_labels_have_an_interval_that_shrinks_with_their_number():
    widths = [
        np.ptp(bounded_labels_interval(labels_of([1.0] * n, 500), 0.0, 1.0)[0])
        for n in (3, 30, 300)
    ]
    assert widths[0] > 0.5 > widths[1] > 0.1 > widths[2] > 0


def test_clusters_count_as_one_unit():
    scores = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    interval, _ = bounded_labels_interval(
        labels_of(scores, 12), 0.0, 1.0, clusters=np.arange(12) // 2
    )
    assert interval == betting_interval(
        np.array([1.0, 2.0, 1.0]), 0.0, 1.0, sizes=np.array([2.0, 2.0, 2.0])
    )


def test_all_labels_of_a_finite_population_give_its_mean():
    scores = np.array([1.0, 2.0, 5.0, 4.0, 3.0, 3.0])
    interval, _ = bounded_labels_interval(scores, 1.0, 5.0, finite=True)
    assert interval == pytest.approx((3.0, 3.0))
    few, _ = bounded_labels_interval(labels_of(scores[:5], 6), 1.0, 5.0, finite=True)
    # the sixth score is 1 to 5
    assert few[0] >= 16 / 6 - 1e-9 and few[1] <= 20 / 6 + 1e-9


def test_the_order_of_the_file_does_not_lead_the_bets():
    scores = np.sort(np.random.default_rng(3).integers(1, 6, 40)).astype(float)
    low, high = bounded_labels_interval(labels_of(scores, 400), 1.0, 5.0, finite=True)[
        0
    ]
    assert low < scores.mean() < high and high - low < 2


def test_labels_of_strata_count_with_their_weights():
    rng = np.random.default_rng(4)
    strata = np.repeat([0, 1], [50, 150])
    scores = np.where(
        strata == 0, rng.integers(1, 3, 200), rng.integers(4, 6, 200)
    ).astype(float)
    labels = np.where(
        np.isin(np.arange(200), [*range(0, 40, 2), *range(50, 110, 3)]), scores, np.nan
    )
    low, high = bounded_labels_interval(labels, 1.0, 5.0, strata=strata)[0]
    assert low < 0.25 * 1.5 + 0.75 * 4.5 < high
    unweighted = betting_interval(labels[~np.isnan(labels)], 1.0, 5.0)
    assert unweighted[1] < high and unweighted[0] < low
    equal = np.where(
        np.isin(np.arange(200), [*range(0, 50, 5), *range(50, 200, 5)]), scores, np.nan
    )
    assert bounded_labels_interval(equal, 1.0, 5.0, strata=strata)[0] == pytest.approx(
        bounded_labels_interval(equal, 1.0, 5.0)[0]
    )


def test_what_the_bets_do_not_serve_has_a_reason():
    labels = labels_of([1.0, 0.0, 1.0, 1.0], 8)
    assert bounded_labels_interval(
        labels, 0.0, 1.0, probabilities=np.linspace(0.1, 0.9, 8)
    ) == (None, UNEQUAL)
    labels = np.array([1.0, 0.0, 1.0, 1.0] * 2)
    found = bounded_labels_interval(
        labels, 0.0, 1.0, strata=np.repeat([0, 1], 4), clusters=np.arange(8) // 2
    )
    assert found == (None, CLUSTERED_STRATA)
