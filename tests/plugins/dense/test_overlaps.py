"""Overlaps of times and boxes by hand, and their invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness_metrics.dense.overlaps import (
    ACTIVITYNET_EPSILON,
    box_overlaps,
    generalised_scene_overlaps,
    oriented_scene_overlaps,
    scene_overlaps,
    time_overlaps,
)

FINITE = st.floats(-100, 100).map(lambda value: round(value, 3))


def box(x=0.0, y=0.0, z=0.0, size=(1.0, 1.0, 1.0), yaw=0.0):
    """Return the corners of a box by its centre, size and angle about z."""
    signs = np.array(
        [[a, b, c] for c in (1, -1) for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
    )
    local = signs * np.array(size) / 2
    turn = np.array(
        [[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]]
    )
    return local @ turn.T + np.array([x, y, z])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0, 10), (0, 10), 1.0),
        ((0, 10), (5, 15), 1 / 3),
        ((0, 10), (10, 20), 0.0),
        ((0, 10), (30, 40), 0.0),
        ((0, 10), (2, 4), 0.2),
        ((5, 5), (5, 5), 0.0),
        ((5, 5), (0, 10), 0.0),
    ],
)
def test_times(first, second, expected):
    times = [np.array([time], dtype=float) for time in (first, second)]
    assert time_overlaps(*times)[0, 0] == pytest.approx(expected)
    assert time_overlaps(*times[::-1])[0, 0] == pytest.approx(expected)


def test_the_epsilon_puts_a_half_below_the_half():
    first, second = np.array([[10.0, 15.0]]), np.array([[10.0, 20.0]])
    assert time_overlaps(first, second)[0, 0] == 0.5
    assert time_overlaps(first, second, ACTIVITYNET_EPSILON)[0, 0] < 0.5


def test_boxes_of_images():
    first = np.array([[0.0, 0, 2, 2], [0, 0, 0, 0]])
    second = np.array([[1.0, 0, 3, 2], [5, 5, 6, 6]])
    assert box_overlaps(first, second).tolist() == [[pytest.approx(1 / 3), 0], [0, 0]]


def test_a_turned_box_has_its_own_volume_and_a_larger_hull():
    straight, turned = box()[None], box(yaw=np.pi / 4)[None]
    # an octagon of 2 (sqrt 2 - 1) in the unit square
    octagon = 2 * (np.sqrt(2) - 1)
    expected = octagon / (2 - octagon)
    assert oriented_scene_overlaps(straight, turned)[0, 0] == pytest.approx(expected)
    assert scene_overlaps(straight, turned)[0, 0] == pytest.approx(1 / 2)


@given(yaw=st.floats(0, 6.3), x=st.floats(-2, 2), height=st.floats(0.5, 2))
def test_boxes_turned_together_overlap_as_before(yaw, x, height):
    first, second = box(), box(x=x, size=(1.0, 1.0, height))
    turned = [
        box(yaw=yaw),
        box(x * np.cos(yaw), x * np.sin(yaw), size=(1.0, 1.0, height), yaw=yaw),
    ]
    expected = scene_overlaps(first[None], second[None])[0, 0]
    value = oriented_scene_overlaps(turned[0][None], turned[1][None])[0, 0]
    assert value == pytest.approx(expected, abs=1e-6)


def test_the_generalised_overlap_of_distant_boxes_falls_with_the_distance():
    near, far = (
        generalised_scene_overlaps(box()[None], box(x=x)[None])[0, 0] for x in (2, 5)
    )
    assert near == pytest.approx(-1 / 3)
    assert far == pytest.approx(-4 / 6)
    assert generalised_scene_overlaps(box()[None], box()[None])[0, 0] == 1.0


@given(arrays.arrays(float, (3, 2), elements=FINITE))
def test_times_are_symmetric_and_in_bounds(values):
    times = np.sort(values, axis=1)
    overlaps = time_overlaps(times, times)
    assert (overlaps == overlaps.T).all()
    assert ((overlaps >= 0) & (overlaps <= 1)).all()
    has_length = times[:, 1] > times[:, 0]
    assert (np.diagonal(overlaps)[has_length] == 1).all()
