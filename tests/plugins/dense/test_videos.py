"""Sets of events as arrays: what a protocol refuses, and with what words."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import InputError
from harness_metrics.dense.videos import Side, Video, check_boxes
from tests.plugins.dense.test_objects import cube


def number(system, *annotators, **params):
    """Return the number of one example of sets of events."""
    (result,) = harness.score(
        {"v": [system.to_text()]},
        {"v": [own.to_text() for own in annotators]},
        {"dense": {"text": "rouge", **params}},
        bootstrap=0,
    ).values()
    return result.value


def times(*places, duration=None):
    return EventSet(tuple(Event("a dog", place) for place in places), duration)


def test_milliseconds_are_named_by_the_duration_on_both_sides():
    usual = times((0.0, 9.0), duration=10.0)
    thousands = times((0.0, 9000.0))
    with pytest.raises(InputError, match=r"candidates: 'v': half .* milliseconds"):
        number(thousands, usual)
    with pytest.raises(InputError, match=r"references: 'v': half .* milliseconds"):
        number(usual, times((0.0, 9000.0), duration=10.0))


def test_without_a_duration_the_last_end_of_the_references_stands_for_it():
    usual = times((0.0, 9.0))
    with pytest.raises(InputError, match="the video has 9 seconds"):
        number(times((0.0, 9000.0)), usual)
    assert number(times((0.0, 90.0)), usual) == pytest.approx(0.1)
    # the references may have no length, or nothing at all
    assert number(times((0.0, 9000.0)), times((0.0, 0.0))) == 0.0


def test_an_event_beyond_the_duration_stays():
    assert number(times((0.0, 20.0)), times((0.0, 10.0), duration=10.0)) == 0.5


def test_corners_that_are_no_box_are_named_where_boxes_are_turned():
    skewed = (9.0, 9.0, 9.0, *cube(0)[3:])
    truth = EventSet((Event("a sofa", cube(0), label="0"),))
    found = EventSet((Event("a sofa", cube(0)), Event("a sofa", skewed)))
    for params in ({}, {"protocol": "scan2cap-benchmark"}):
        with pytest.raises(InputError, match="corners of event 2 are those of no box"):
            number(found, truth, **params)
    for params in ({"overlap": "iou3d-hull"}, {"protocol": "vote2cap"}):
        assert number(found, truth, **params) > 0


def test_boxes_are_recognised_whatever_the_order_of_their_corners():
    rng = np.random.default_rng(0)
    box = np.reshape(cube(0.0, 2.0), (8, 3))
    for _ in range(20):
        angle = rng.uniform(0, 7)
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        turned = box * rng.uniform(0.2, 3, 3)
        turned[:, :2] = turned[:, :2] @ np.array(turn) + rng.normal(size=2)
        check_boxes(rng.permutation(turned.round(5))[None], "v")
        sheared = turned.copy()
        sheared[4:, 0] += 0.4
        with pytest.raises(InputError, match="no box"):
            check_boxes(rng.permutation(sheared)[None], "v")


def test_a_box_without_volume_is_one_that_overlaps_nothing():
    flat = cube(0, 0.0)
    check_boxes(np.reshape(flat, (1, 8, 3)), "v")
    truth = EventSet((Event("a sofa", cube(0)),))
    assert number(EventSet((Event("a sofa", flat),)), truth) == 0.0


def test_annotators_are_joined_in_their_order():
    def side(*starts):
        places = np.array([(start, start + 1.0) for start in starts])
        count = len(starts)
        return Side(places, np.arange(count), np.full(count, np.nan), ("",) * count)

    video = Video("v", side(9.0), (side(3.0, 1.0), side(2.0)))
    assert video.merged.places[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert video.annotator_of.tolist() == [0, 0, 1]
    first = video.merged[np.array([2, 0])]
    assert first.places[:, 0].tolist() == [2.0, 3.0]
    assert len(first) == 2
