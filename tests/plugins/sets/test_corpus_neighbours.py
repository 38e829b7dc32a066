"""Balls of corpora of vectors."""

import numpy as np
import pytest

from harness.encoders import pair_products
from harness_metrics.sets import corpus_neighbours
from harness_metrics.sets.neighbours import KINDS


def loop(distances, labels, k, kind):
    """A statistic by the definition, text by text."""
    own = [np.flatnonzero(labels), np.flatnonzero(~labels)]
    candidates, references = own

    def radius(j, sample):
        return sorted(distances[x, j] for x in sample if x != j)[k - 1]

    balls = candidates if kind == "recall" else references
    others = references if kind == "recall" else candidates
    inside = np.array(
        [[distances[x, j] <= radius(j, balls) for j in balls] for x in others]
    )
    if kind == "coverage":
        return inside.any(axis=0).mean()
    return (
        inside.sum() / k / len(others)
        if kind == "density"
        else inside.any(axis=1).mean()
    )


@pytest.mark.parametrize("kind", ["precision", "recall"])
def test_texts_inside_a_ball_are_left_out_of_later_blocks(kind, monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 100, 8)).astype(np.float32)
    y[:40] = x[rng.integers(0, 100, 40)]  # texts of both sides, some of them repeated
    whole = corpus_neighbours.of_corpora(x, y, 2, kind)
    both = np.concatenate([x, y]).astype(float)
    squared = ((both[:, None] - both[None]) ** 2).sum(axis=-1)
    assert whole == pytest.approx(
        loop(squared, np.arange(200) < 100, 2, kind), abs=1e-12
    )
    for size in (4 * 200 * 3, 4 * 200 * 50):
        monkeypatch.setattr(corpus_neighbours, "_BLOCK_BYTES", size)
        assert corpus_neighbours.of_corpora(x, y, 2, kind) == whole


def test_the_smallest_entries_of_wide_blocks():
    block = np.random.default_rng(0).standard_normal((20, 5001)).astype(np.float32)
    assert np.array_equal(
        corpus_neighbours.kth_smallest(block, 6), np.sort(block, axis=1)[:, 5]
    )


def test_a_sample_that_is_too_small_is_undefined():
    x = np.eye(3, dtype=np.float32)
    assert np.isnan(corpus_neighbours.of_corpora(x, x[:2], 2, "coverage"))
    assert np.isnan(corpus_neighbours.of_corpora(x[:0], x, 1, "coverage"))
    assert corpus_neighbours.of_corpora(x, x[:2], 2, "recall") == 1.0


def corpora(seed):
    """Return two corpora, of which some points are repeated and shared."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 150, 24)).astype(np.float32)
    if seed % 2:
        y[:40] = x[rng.integers(0, 150, 40)]
        x[:30] = x[rng.integers(30, 150, 30)]
        y[-20:] = y[rng.integers(0, 100, 20)]
    return x, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_an_accelerator_finds_the_same_balls(kind, seed, monkeypatch):
    """``cpu:0`` stands for one; its blocks may have any size."""
    pytest.importorskip("torch")
    x, y = corpora(seed)
    expected = corpus_neighbours.of_corpora(x, y, 3, kind)
    for size in (1, 300 * 7, 1 << 26):
        monkeypatch.setattr(pair_products, "BLOCK_PAIRS", size)
        on_device = corpus_neighbours.of_corpora(x, y, 3, kind, "cpu:0")
        assert on_device == pytest.approx(expected, abs=1e-12)
