"""Bounds of a change from the number of units that changed: the binomial distribution,
and the number that decides.
"""

from __future__ import annotations

from math import inf

import pytest
from scipy import stats

from harness.decisions.statistics.changed_share import ChangedShare
from harness.decisions.statistics.sample_size import LEVEL


@pytest.mark.parametrize(
    ("changed", "n", "reach", "limit"),
    [(0, 299, 1.0, 0.01), (3, 500, 1.0, 0.02), (5, 1000, 2.0, 0.03)],
)
def test_the_p_value_is_binomial(changed, n, reach, limit):
    few = ChangedShare(0.0, changed, n, reach)
    expected = stats.binom.cdf(changed, n, limit / reach)
    assert few.p_below(limit) == pytest.approx(expected) and few.p_above(
        -limit
    ) == pytest.approx(expected)
    assert few.p_below(few.upper()) == pytest.approx(LEVEL) and few.p_above(
        few.lower()
    ) == pytest.approx(LEVEL)
    assert few.lower() == -few.upper()


def test_limits_that_no_change_reaches_or_passes():
    few = ChangedShare(0.0, 1, 100, 1.0)
    assert (few.p_below(0.0), few.p_below(-0.1), few.p_below(1.1)) == (1.0, 1.0, 0.0)


def test_the_number_that_decides():
    few = ChangedShare(0.0, 2, 1000, 1.0)
    assert few.n_without_change(0.01) == 299 and few.n_without_change(0.0) == inf
    n = few.n_to_decide(0.01)
    assert (
        ChangedShare(0.0, round(0.002 * n), int(n), 1.0).p_below(0.01) <= LEVEL
        and n > 299
    )
    assert few.n_to_decide(0.002) == inf, "the share that changed may be all of it"
    assert few.n_to_decide(-0.01, 0.01) > few.n_to_decide(-0.01)
