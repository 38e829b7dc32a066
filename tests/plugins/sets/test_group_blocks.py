"""Blocks of distances in numpy and on an accelerator, for which ``cpu:0`` stands."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.sets import group_blocks
from harness_metrics.sets.group_blocks import Sample

pytest.importorskip("torch")

COUNT = 4


def answers(block):
    """Return what a block answers, for balls of two sizes."""
    nearest = block.nearest(5)
    radius = nearest.distances[:, 2]
    wider = nearest.distances[:, 4]
    own = nearest.groups[:, 0]
    numbers = np.zeros((2, COUNT, 40), dtype=np.int64)
    block.draw_balls(radius)
    block.add_balls(numbers[0], np.sort(own))
    block.add_larger_balls(numbers[1], own, wider)
    return (
        nearest.distances,
        nearest.groups,
        block.outside_group(0, 1),
        block.count_in_balls(radius),
        *numbers,
    )


def test_both_kinds_of_blocks_give_the_same_answers(monkeypatch):
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((2, 40, 6)).astype(np.float32)
    centres, others = (
        Sample(side, np.sort(rng.integers(0, COUNT, 40))) for side in vectors
    )
    monkeypatch.setattr(group_blocks, "_BLOCK_BYTES", 4 * 80 * 40)
    (expected,) = map(answers, group_blocks.numpy_blocks(centres, others, COUNT))
    (on_device,) = group_blocks.reduce_device_blocks(
        centres, others, COUNT, answers, "cpu:0"
    )
    for one, other in zip(expected, on_device, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)
    assert expected[3].sum() and expected[4].sum() and expected[5].sum()


def test_blocks_have_the_distances_of_consecutive_centres(monkeypatch):
    sample = Sample(np.eye(5, dtype=np.float32), np.arange(5) % 2).by_group()
    monkeypatch.setattr(group_blocks, "_BLOCK_BYTES", 4 * 5 * 2)
    rows = [block.rows for block in group_blocks.numpy_blocks(sample, sample, 2)]
    assert rows == [slice(0, 2), slice(2, 4), slice(4, 5)]
