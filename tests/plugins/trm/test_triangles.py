"""Ranks of edges, and counts of triangles by block and by pair."""

from __future__ import annotations

import numpy as np

from harness_metrics.trm import triangles


def test_equal_edges_have_every_rank_that_they_fit():
    ranks = triangles.edge_ranks(
        np.array([1.0, 2.0, 3.0, 1.0]),
        np.array([2.0, 1.0, 1.0, 1.0]),
        np.array([3.0, 3.0, 2.0, 1.0]),
    )
    assert np.array(ranks).T.tolist() == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
        [True, True, True],
    ]


def test_pairs_of_different_samples_add_up_to_the_observed_counts():
    distances = np.random.default_rng(0).random((2, 6, 6))
    counts = triangles.pair_counts(distances)
    across = counts[:, :, :2, 2:].sum(axis=(2, 3))
    observed = triangles.observed_counts(distances, 2).sum(axis=1)
    np.testing.assert_array_equal(across, observed)


def test_blocks_hold_all_examples_in_order(monkeypatch):
    batch = np.arange(5 * 9.0).reshape(5, 3, 3)
    monkeypatch.setattr(triangles, "INDICATOR_BYTES", 2 * 8 * 3**3)
    blocks = list(triangles.blocks_of(batch))
    assert [start for start, _ in blocks] == [0, 2, 4]
    np.testing.assert_array_equal(np.concatenate([part for _, part in blocks]), batch)
