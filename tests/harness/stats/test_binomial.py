"""The interval of a share against published values, and its coverage in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from harness.stats.binomial import wilson_interval


def test_the_interval_solves_the_score_equation():
    low, high = wilson_interval(0.3, 40)
    for end in (low, high):
        assert abs(0.3 - end) / np.sqrt(end * (1 - end) / 40) == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.parametrize(("share", "ends"), [(0.0, (0.0, 0.161)), (1.0, (0.839, 1.0)), (0.5, (0.299, 0.701))])
def test_intervals_lie_in_0_to_1_and_contain_the_share(share, ends):
    low, high = wilson_interval(share, 20)
    assert (low, high) == pytest.approx(ends, abs=1e-3)
    assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("n", [20, 100])
def test_the_mean_coverage_is_nominal(n):
    shares = np.linspace(0.02, 0.98, 97)
    ends = np.array([wilson_interval(k / n, n) for k in range(n + 1)])
    covers = (ends[:, 0] <= shares[:, None]) & (shares[:, None] <= ends[:, 1])
    coverage = (covers * binom.pmf(np.arange(n + 1), n, shares[:, None])).sum(axis=1)
    assert coverage.mean() == pytest.approx(0.953, abs=0.004)
