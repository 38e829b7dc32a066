"""Relabelings up to the exchange of the samples."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats import permutation
from harness_metrics.kernel import symmetric_relabelings


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("n,m", [(1, 1), (3, 3), (2, 4), (4, 1)])
def test_every_relabeling_is_covered_once_up_to_exchange(n, m, size):
    parts = list(symmetric_relabelings.chunks(n, m, size))
    assert max(map(len, parts)) <= size
    labels = np.concatenate(parts)
    assert labels[0].tolist() == [True] * n + [False] * m
    covered = {tuple(row) for row in labels} | (
        {tuple(~row) for row in labels} if n == m else set()
    )
    assert covered == {tuple(row) for row in permutation.relabelings(n, m)}
    assert len(labels) == permutation.count(n, m) / (2 if n == m else 1)
