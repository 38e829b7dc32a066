"""Area under the divergence frontier against trapezoids point by point and against
mauve-text.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness_metrics.mauve import frontier


def plain_area(p, q, c=5.0, points=25):
    """Sum of the trapezoids along the curve, one point at a time."""

    def divergence(a, r):
        return sum(x * np.log(x / y) for x, y in zip(a, r) if x > 0)

    curve = [(1.0, 0.0)]
    for w in np.linspace(1e-6, 1 - 1e-6, points):
        r = w * p + (1 - w) * q
        curve.append((np.exp(-c * divergence(q, r)), np.exp(-c * divergence(p, r))))
    curve.append((0.0, 1.0))
    return sum((a[0] - b[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(curve))


def histograms(number, k, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (2, number, k)) + (np.arange(k) == 0)
    return counts / counts.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("k", [2, 5, 40])
def test_equals_the_plain_curve(k):
    p, q = histograms(6, k)
    assert frontier.area(p, q) == pytest.approx(
        [plain_area(*pair) for pair in zip(p, q)], rel=1e-12
    )
    assert frontier.area(p[0], q[0]) == pytest.approx(plain_area(p[0], q[0]))
    assert frontier.area(p.reshape(2, 3, k), q.reshape(2, 3, k)).shape == (2, 3)


def test_equal_histograms_have_area_one_and_disjoint_ones_almost_zero():
    p = np.array([0.2, 0.8, 0.0])
    assert frontier.area(p, p) == pytest.approx(1.0)
    assert frontier.area(p, np.array([0.0, 0.0, 1.0])) < 0.01


def test_symmetric_and_between_zero_and_one():
    p, q = histograms(50, 6, seed=1)
    area = frontier.area(p, q)
    assert area == pytest.approx(frontier.area(q, p), rel=1e-12)
    assert ((area > 0) & (area <= 1 + 1e-12)).all()


@pytest.mark.equal_bits
def test_chunks_change_nothing(monkeypatch):
    p, q = histograms(9, 4)
    whole = frontier.area(p, q)
    monkeypatch.setattr(frontier, "_CHUNK", 1)
    assert np.array_equal(frontier.area(p, q), whole)


@pytest.mark.slow
def test_area_equals_mauve_text_on_its_own_histograms():
    oracle = pytest.importorskip("mauve")
    rng = np.random.default_rng(0)
    out = oracle.compute_mauve(
        p_features=rng.normal(size=(200, 8)),
        q_features=rng.normal(size=(150, 8)) + 0.5,
        seed=1,
        verbose=False,
    )
    assert frontier.area(out.p_hist, out.q_hist) == pytest.approx(out.mauve, rel=1e-12)
