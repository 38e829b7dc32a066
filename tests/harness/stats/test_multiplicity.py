"""Adjusted p-values: definitions, order, NaN."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.combine import count_discoveries
from harness.stats.multiplicity import benjamini_hochberg_adjusted, holm

P = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=12)


@given(P)
def test_holm_rejects_step_down(p):
    adjusted = holm(p)
    order = np.argsort(p, kind="stable")
    rejected = np.zeros(len(p), dtype=bool)
    for k, i in enumerate(order):
        if p[i] > 0.05 / (len(p) - k):
            break
        rejected[i] = True
    assert np.all((adjusted <= 0.05) == rejected) or np.any(np.isclose(adjusted, 0.05, rtol=1e-12))
    assert np.all(adjusted >= np.asarray(p)) and np.all(adjusted <= 1)


@given(P)
def test_benjamini_hochberg_agrees_with_the_discoveries(p):
    adjusted = benjamini_hochberg_adjusted(p)
    if not np.any(np.isclose(adjusted, 0.05, rtol=1e-9)):
        assert int(np.sum(adjusted <= 0.05)) == count_discoveries(np.asarray(p), 0.05)
    assert np.all(adjusted <= holm(p) + 1e-15)


def test_nan_stays_and_does_not_count():
    assert np.array_equal(holm([0.01, float("nan"), 0.5]), [0.02, np.nan, 0.5], equal_nan=True)
    assert np.isnan(benjamini_hochberg_adjusted([float("nan")])).all()
