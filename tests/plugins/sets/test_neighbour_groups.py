"""Statistics without each group equal those of the points that are left."""

from __future__ import annotations

import numpy as np
import pytest

from harness.encoders import pair_products
from harness_metrics.sets import (
    corpus_neighbours,
    group_blocks,
    neighbour_groups,
    neighbours,
)
from harness_metrics.sets.group_blocks import Sample
from harness_metrics.sets.neighbour_groups import without_groups


def by_definition(x: Sample, y: Sample, k: int, kind, count: int) -> list[float]:
    return [
        corpus_neighbours.of_corpora(
            x.vectors[x.groups != g], y.vectors[y.groups != g], k, kind
        )
        for g in range(count)
    ]


@pytest.mark.parametrize("kind", neighbours.KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_the_points_that_are_left(kind, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = 90
    m = 60
    count = (3, 7, 20)[seed % 3]
    x = rng.standard_normal((n, 4)).astype(np.float32)
    y = rng.standard_normal((m, 4)).astype(np.float32)
    if seed % 2:  # many ties and points of both sides
        x = np.round(2 * x)
        y = np.round(2 * y)

    candidates = Sample(x, rng.integers(0, count, n))
    references = Sample(y, rng.integers(0, count, m))
    if seed == 5:  # neighbours of one group: more than the list holds
        candidates = Sample(x, np.sort(rng.integers(0, count, n)))
        monkeypatch.setattr(neighbour_groups, "_MORE", 1)
    monkeypatch.setattr(group_blocks, "_BLOCK_BYTES", 4 * (n + m) * 17)

    k = 1 + seed % 4
    values = without_groups(candidates, references, k, kind, count)
    np.testing.assert_allclose(
        values, by_definition(candidates, references, k, kind, count), atol=1e-12
    )


@pytest.mark.parametrize("kind", neighbours.KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_an_accelerator_finds_the_same_balls(kind, seed, monkeypatch):
    """``cpu:0`` stands for one; its blocks may have any size."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 90, 6)).astype(np.float32)
    if seed % 2:  # many ties and points of both sides
        x = np.round(2 * x)
        y = np.round(2 * y)
    candidates = Sample(x, rng.integers(0, 7, 90))
    references = Sample(y, rng.integers(0, 7, 90))
    if seed == 2:  # neighbours of one group: more than the list holds
        candidates = Sample(x, np.sort(candidates.groups))
        monkeypatch.setattr(neighbour_groups, "_MORE", 1)

    expected = without_groups(candidates, references, 1 + seed, kind, 7)
    for size in (1, 180 * 17, 1 << 26):
        monkeypatch.setattr(pair_products, "BLOCK_PAIRS", size)
        on_device = without_groups(candidates, references, 1 + seed, kind, 7, "cpu:0")
        np.testing.assert_allclose(on_device, expected, atol=1e-12)


def test_groups_without_which_too_few_points_are_left_are_undefined():
    x = Sample(np.eye(3, dtype=np.float32), np.array([0, 0, 1]))
    y = Sample(np.eye(3, dtype=np.float32)[:2], np.array([0, 1]))
    assert np.isnan(without_groups(x, y, 1, "coverage", 2)).all()
    assert np.isnan(without_groups(x, y, 1, "recall", 2)).tolist() == [True, False]
    for kind in neighbours.KINDS:  # no ball reaches a fifth neighbour
        assert np.isnan(without_groups(x, y, 5, kind, 2)).all()
        assert np.isnan(without_groups(x, y, 5, kind, 2, "cpu:0")).all()
    far = Sample(np.eye(3, dtype=np.float32)[:1], np.array([1]))
    assert np.isnan(without_groups(far, x, 1, "precision", 2)[1])
