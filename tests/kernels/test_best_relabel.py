"""Metrics that score a candidate by its best reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from caption_kernels.batches.ngram import relabel_best
from harness.stats import permutation


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 100))
def test_means_equal_maxima_over_references(n, m, seed):
    scores = (
        np.random.default_rng(seed).integers(0, 4, size=(2, n + m, n + m)).astype(float)
    )
    labels = permutation.relabelings(n, m)
    expected = [
        [matrix[row][:, ~row].max(axis=1).mean() for row in labels] for matrix in scores
    ]
    assert np.abs(relabel_best(scores, labels) - expected).max() <= 1e-15


def test_relabelings_with_equal_values_tie_exactly():
    scores = np.zeros((1, 4, 4))
    scores[0, :3, 3] = 0.1, 0.2, 0.3
    scores[0, 1:, 0] = 0.3, 0.1, 0.2
    # 0.1 0.2 0.3 and 0.3 0.1 0.2
    labels = np.array([[True, True, True, False], [False, True, True, True]])
    first, second = relabel_best(scores, labels)[0]
    assert first == second == (0.1 + 0.2 + 0.3) / 3
