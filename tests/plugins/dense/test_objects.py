"""Protocols of objects in scenes by hand."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import InputError
from harness_metrics.dense.objects import (
    keep_sure_boxes,
    marked_candidate,
    marked_reference,
)
from harness_metrics.dense.videos import Side


def cube(x, size=1.0):
    """Return the corners of a box of a side, from x on."""
    return tuple(
        float(value)
        for c in (0, size)
        for a, b in ((0, 0), (0, size), (size, size), (size, 0))
        for value in (x + a, b, c)
    )


def scene(*events):
    return {"s": [EventSet(tuple(events)).to_text()]}


def number(candidates, references, **params):
    params = {"text": "rouge", **params}
    (result,) = harness.score(
        candidates, references, {"dense": params}, bootstrap=0
    ).values()
    return result.value


REFERENCES = scene(
    Event("a red sofa", cube(0), label="0"),
    Event("the sofa is red", cube(0), label="0"),
    Event("a desk", cube(5), label="1"),
)


def test_references_are_cut_and_candidates_are_not():
    text = " ".join(["word"] * 40)
    assert len(marked_reference(text).split()) == 32
    assert len(marked_candidate(text).split()) == 42


def test_an_object_without_a_box_has_the_marks_alone():
    candidates = scene(Event("a red sofa", cube(0)))
    # sos eos against sos a desk eos: precision 1, recall 1/2
    marks = (1 + 1.44) * 0.5 / (0.5 + 1.44)
    for protocol in ("vote2cap", "scan2cap"):
        value = number(candidates, REFERENCES, protocol=protocol)
        assert value == pytest.approx((1 + marks) / 2)
    missing = {"s": [EventSet((), missing=True).to_text()]}
    assert number(missing, REFERENCES, protocol="vote2cap") > 0


def test_the_largest_overlap_stays_or_the_last_box():
    near, nearer = Event("a desk", cube(0.2)), Event("a red sofa", cube(0.1))
    best = number(scene(nearer, near), REFERENCES, protocol="vote2cap")
    last = number(scene(nearer, near), REFERENCES, protocol="scan2cap")
    assert best > last
    swapped = number(scene(near, nearer), REFERENCES, protocol="scan2cap")
    assert swapped == pytest.approx(best)


def test_the_benchmark_divides_by_boxes_and_by_objects():
    candidates = scene(
        Event("a red sofa", cube(0)),
        Event("a lamp", cube(20)),
        Event("a lamp", cube(30)),
        Event("a lamp", cube(40)),
    )
    params = {"protocol": "scan2cap-benchmark"}
    assert number(candidates, REFERENCES, measure="precision", **params) == 0.25
    assert number(candidates, REFERENCES, measure="recall", **params) == 0.5
    assert number(candidates, REFERENCES, **params) == pytest.approx(1 / 3)


def test_the_surer_of_two_boxes_of_a_class_stays():
    places = np.array([cube(0), cube(0.1), cube(0.2)]).reshape(-1, 8, 3)
    side = Side(places, np.arange(3), np.array([0.1, 0.9, 0.5]), ("a", "a", "b"))
    kept = keep_sure_boxes(side, "s")
    assert kept.texts.tolist() == [1, 2]
    partly = Side(places, np.arange(3), np.array([0.1, np.nan, 0.5]), ("a", "a", "b"))
    with pytest.raises(InputError, match="1 of 3 boxes have no score"):
        keep_sure_boxes(partly, "s")


def test_a_box_of_no_volume_describes_nothing():
    flat = Event("a red sofa", cube(0, 0.0))
    nothing = {"s": [EventSet(()).to_text()]}
    params = {"protocol": "vote2cap"}
    assert number(scene(flat), REFERENCES, **params) == number(
        nothing, REFERENCES, **params
    )
