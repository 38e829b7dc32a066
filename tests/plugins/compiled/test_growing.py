"""Arrays that grow by doubling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.compiled.growing import ensure_rows


def test_a_long_enough_array_is_returned_itself():
    array = np.arange(3)
    assert ensure_rows(array, 3) is array
    assert ensure_rows(array, 0) is array


@given(st.integers(0, 20), st.integers(0, 50), st.sampled_from([0, -1]))
def test_a_longer_copy_has_the_old_rows_and_fill(rows, size, fill):
    array = np.ones((rows, 2), dtype=np.int32)
    longer = ensure_rows(array, rows + 1 + size, fill)
    assert len(longer) == max(rows + 1 + size, 2 * rows)
    assert longer.dtype == array.dtype
    assert (longer[:rows] == 1).all()
    assert (longer[rows:] == fill).all()


@pytest.mark.parametrize("n", [1000])
def test_growing_one_row_at_a_time_copies_few_times(n):
    array, copies = np.zeros(1), 0
    for size in range(1, n + 1):
        longer = ensure_rows(array, size)
        copies += longer is not array
        array = longer
    assert copies <= 10
