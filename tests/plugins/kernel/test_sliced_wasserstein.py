"""Sliced Wasserstein distance against scipy in one dimension and against POT."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.kernel import sliced_wasserstein
from tests.support import kernel_values

SHAPES = [(10, 5), (5, 5), (3, 7), (1, 4), (4, 1), (2, 2)]


def samples(n, m, d=12, batch=(), seed=0, shift=0.4):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d)) + shift


def test_one_dimensional_wasserstein_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    for n, m in SHAPES:
        x, y = samples(n, m, 1)
        expected = stats.wasserstein_distance(x[:, 0], y[:, 0])
        assert kernel_values.sliced_wasserstein(x, y, p=1) == pytest.approx(
            expected, rel=1e-12
        )


def test_sliced_wasserstein_equals_pot():
    ot = pytest.importorskip("ot")
    x, y = samples(10, 7)
    for p in (1, 1.5, 2, 3):
        expected = ot.sliced_wasserstein_distance(
            x, y, projections=sliced_wasserstein.directions(12, 50, 3), p=p
        )
        assert kernel_values.sliced_wasserstein(x, y, 50, p, seed=3) == pytest.approx(
            expected, rel=1e-9
        )


def test_coupling_weights():
    first, second, weights = sliced_wasserstein.coupling(3, 2)
    assert (first.tolist(), second.tolist()) == ([0, 1, 1, 2], [0, 0, 1, 1])
    assert weights == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 3])


def test_directions_are_unit_vectors_fixed_by_the_seed():
    axes = sliced_wasserstein.directions(5, 7, 0)
    assert axes.shape == (5, 7)
    assert np.linalg.norm(axes, axis=0) == pytest.approx(np.ones(7))
    assert np.array_equal(axes, sliced_wasserstein.directions(5, 7, 0))
    assert not np.array_equal(axes, sliced_wasserstein.directions(5, 7, 1))


@pytest.mark.equal_bits
def test_chunks_of_relabelings_change_nothing(monkeypatch):
    x, y = samples(3, 3, batch=(2,))
    lines = sliced_wasserstein.project_vectors(np.concatenate([x, y], axis=1), 4, 0)
    expected = sliced_wasserstein.exact_p_values(lines, 3, 2.0)
    monkeypatch.setattr(sliced_wasserstein, "_CHUNK", 3)
    monkeypatch.setattr(sliced_wasserstein, "_CHUNK_BYTES", 1)
    assert np.array_equal(sliced_wasserstein.exact_p_values(lines, 3, 2.0), expected)


@pytest.mark.equal_bits
@pytest.mark.parametrize("p", [1, 1.5, 2, 2.5, 3])
def test_one_line_of_equal_sizes_pairs_the_order_statistics(p):
    x, y = samples(6, 6, 1)
    gaps = np.abs(np.sort(x[:, 0]) - np.sort(y[:, 0]))
    assert kernel_values.sliced_wasserstein(x, y, p=p) == pytest.approx(
        np.mean(gaps**p) ** (1 / p), rel=1e-12
    )
