"""Principal components."""

from __future__ import annotations

import numpy as np

from harness_metrics.mauve import components


def normal(n, d=16):
    return np.random.default_rng([0, n]).normal(size=(n, d))


def test_reduced_keeps_ninety_percent_of_the_variance():
    x = normal(100, d=20)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    total = ((unit - unit.mean(0)) ** 2).sum()
    points = components.reduce_dimensions(x).coordinates
    variance = (points**2).sum()
    assert 0.9 * total <= variance <= total
    assert variance - (points[:, -1] ** 2).sum() < 0.9 * total


def test_components_of_equal_variance_are_kept_together():
    # nine of ten equal ones hold 90 %
    assert components.reduce_dimensions(np.eye(11)).coordinates.shape == (11, 10)
    values = np.array(
        [
            [4.0, 4.0, 1.0, 1.0 - 1e-12, 0.0],
            [5.0, 3.0, 2.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
    assert components.leading_components(values, 0.9).tolist() == [
        [True] * 4 + [False],
        [True] * 3 + [False] * 2,
        [True] * 5,
    ]
