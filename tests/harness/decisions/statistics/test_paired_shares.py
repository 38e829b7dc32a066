"""Exact tests of lost answers: against an enumeration, Clopper and Pearson, at the
level over shares of broken and improved answers.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from harness.decisions.statistics.bounded_mean import clopper_pearson
from harness.decisions.statistics.paired_shares import OUTSIDE, PairedShares
from harness.decisions.statistics.sample_size import LEVEL


def designated_bound(broken, improved, n):
    difference = broken - improved
    return difference + stats.norm.ppf(0.95) * sqrt(
        broken + improved + 1 - difference**2 / n
    )


def enumerated_p(broken, improved, n, limit):
    """Return the p-value by all pairs of counts,
    over 400 shares of improved answers of the interval.
    """
    seen = designated_bound(broken, improved, n)
    low, high = clopper_pearson(improved, n, level=OUTSIDE)
    ordered = np.zeros((n + 1, n + 1), dtype=bool)
    for i in range(n + 1):
        for b in range(n + 1 - i):
            ordered[i, b] = designated_bound(b, i, n) <= seen + 1e-9
    largest = 0.0
    for share in np.linspace(low, high, 400):
        if share + max(share + limit, 0) > 1:
            continue
        total = 0.0
        for i in range(n + 1):
            lost = max(share + limit, 0) / (1 - share) if share < 1 else 0.0
            counts = stats.binom.pmf(np.arange(n + 1 - i), n - i, min(lost, 1.0))
            total += (
                stats.binom.pmf(i, n, share) * counts[ordered[i, : n + 1 - i]].sum()
            )
        largest = max(largest, total)
    return largest + OUTSIDE


@pytest.mark.parametrize(
    ("broken", "improved", "n", "limit"),
    [(0, 0, 9, 0.2), (2, 1, 12, 0.3), (1, 4, 12, 0.1), (3, 1, 10, 0.55)],
)
def test_the_p_value_is_that_of_an_enumeration(broken, improved, n, limit):
    expected = enumerated_p(broken, improved, n, limit)
    found = PairedShares(broken, improved, n).p_below(limit)
    assert expected - 1e-6 <= found <= 1.12 * expected, (
        "cells bound the maximum from above"
    )
    assert PairedShares(improved, broken, n).p_above(-limit) == found


@pytest.mark.parametrize(("n", "limit"), [(3, 0.6316), (299, 0.01), (58, 0.05)])
def test_without_a_change_it_is_clopper_and_pearson(n, limit):
    assert PairedShares(0, 0, n).p_below(limit) == pytest.approx(
        (1 - limit) ** n + OUTSIDE
    )
    assert PairedShares(0, 0, n).upper() == pytest.approx(
        clopper_pearson(0, n, level=0.1)[1], rel=2e-3
    )
    assert PairedShares(0, 0, n, level=0.025).upper() == pytest.approx(
        clopper_pearson(0, n, level=0.05)[1], rel=2e-3
    )
    assert PairedShares(0, 0, n).lower() == -PairedShares(0, 0, n).upper()


def test_the_smallest_number_that_can_pass():
    assert PairedShares(0, 0, 3).n_without_change(0.01) == 299
    assert PairedShares(0, 0, 3, level=0.025).n_without_change(0.01) == 368
    assert PairedShares(0, 0, 3).n_without_change(0.0) == inf


@pytest.mark.parametrize(
    ("broken", "improved", "n"),
    [(7, 3, 200), (0, 4, 50), (30, 28, 300), (50, 0, 50), (0, 50, 50), (1, 0, 1)],
)
def test_bounds_and_p_values_agree(broken, improved, n):
    shares = PairedShares(broken, improved, n)
    low = shares.lower()
    high = shares.upper()
    assert -1 <= low <= shares.value <= high <= 1
    if high < 1:
        assert (
            shares.p_below(high)
            <= LEVEL
            < shares.p_below(high - 0.002 * (high - shares.value + 1e-9) - 1e-9)
        )
    limits = np.linspace(-1, 1, 41)
    assert (np.diff([shares.p_below(limit) for limit in limits]) <= 1e-9).all()
    assert (np.diff([shares.p_above(limit) for limit in limits]) >= -1e-9).all()
    assert (shares.p_below(-1), shares.p_below(1.1), shares.p_above(1.1)) == (
        1.0,
        0.0,
        1.0,
    )


def test_limits_that_nothing_reaches():
    assert PairedShares(0, 10, 100).p_below(-0.5) == 1.0
    assert PairedShares(10, 0, 100).p_above(0.5) == 1.0


@pytest.mark.parametrize(
    ("n", "lost", "improved"),
    [
        (20, 0.05, 0.0),
        (20, 0.2, 0.15),
        (20, 0.1, 0.3),
        (60, 0.03, 0.02),
        (40, 0.15, 0.1),
        (400, 0.01, 0.0),
        (400, 0.01, 0.005),
    ],
)
def test_the_level_holds_at_every_share(n, lost, improved):
    """The exact size: the probability of the counts that are rejected at the true
    loss.
    """
    size = [0.0, 0.0]
    reach = [
        range(
            max(0, int(n * s - 5 * sqrt(n * s) - 1)),
            min(n, int(n * s + 6 * sqrt(n * s) + 6)) + 1,
        )
        for s in (lost, improved)
    ]
    for b in reach[0]:
        for i in reach[1]:
            if b + i > n:
                continue
            chance = stats.multinomial.pmf(
                [b, i, n - b - i], n, [lost, improved, 1 - lost - improved]
            )
            if chance > 1e-5:
                shares = PairedShares(b, i, n)
                size[0] += chance * (shares.p_below(lost - improved) <= LEVEL)
                size[1] += chance * (shares.p_above(lost - improved) <= LEVEL)
    assert max(size) <= LEVEL
    assert n < 400 or max(size) > 0.015, "not far below the level either"


def test_many_changes_decide_nearly_as_the_normal_test_does():
    shares = PairedShares(100, 100, 1000)
    assert 1.645 < shares.upper() / (sqrt(200) / 1000) < 1.75


def test_the_number_that_decides():
    shares = PairedShares(12, 8, 400)
    assert shares.n_to_decide(shares.value) == inf
    rng = np.random.default_rng(0)
    for limit, side in ((0.04, "p_below"), (-0.03, "p_above")):
        n = int(shares.n_to_decide(limit))
        draws = rng.multinomial(n, [0.03, 0.02, 0.95], 60)
        decided = [
            getattr(PairedShares(int(b), int(i), n), side)(limit) <= LEVEL
            for b, i, _ in draws
        ]
        assert np.mean(decided) == pytest.approx(0.8, abs=0.15)
    assert shares.n_to_decide(-0.03, 0.01) > shares.n_to_decide(-0.03)
