"""p-values of examples combined."""

from __future__ import annotations

import numpy as np

from harness.run.combined_p_values import combine_p_values


def test_nothing_is_combined_without_p_values():
    assert combine_p_values(None, None, 0.05) == {}
    assert (
        combine_p_values(np.array([0.5]), None, 0.05)
        == combine_p_values(None, np.array([0.5]), 0.05)
        == {}
    )
    assert combine_p_values(np.array([np.nan]), np.array([0.2]), 0.05) == {}
