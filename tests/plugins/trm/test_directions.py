"""Triangles of one direction as polynomials in the labels."""

from __future__ import annotations

import numpy as np

from harness.stats import permutation
from harness_metrics.trm import directions, statistic


def test_the_polynomials_give_the_statistic_of_every_relabeling():
    distances = np.random.default_rng(1).random((2, 5, 5))
    labels = permutation.relabelings(2, 3)
    coefficients = directions.direction_coefficients(distances)
    values = directions.statistic_per_direction(coefficients, labels)

    for column, label in zip(values.T, labels):
        order = np.argsort(~label, kind="stable")
        moved = distances[:, order][:, :, order]
        expected = statistic.triangle_rank(moved, 2, "per-direction")
        np.testing.assert_allclose(column, expected, rtol=1e-12)


def test_a_direction_without_triangles_adds_nothing():
    counts = np.array([[[3.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
    values = directions.statistic_of_direction(counts)
    np.testing.assert_allclose(values, [[4 / 3, 0.0]], rtol=1e-15)


def test_more_texts_and_examples_leave_room_for_fewer_labels():
    steps = [directions.label_step(size, 1) for size in (5, 10, 40)]
    assert steps == sorted(steps, reverse=True)
    assert directions.label_step(5, 1000) < steps[0]
    assert directions.label_step(400, 1) >= 1
