"""Numbers that describe sets of events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.event_description import describe_event_sets, find_gaps
from harness.contracts import Event, EventSet


def timed(*spans, duration=None):
    """Return a set of events with these times."""
    return EventSet(tuple(Event("a dog", span) for span in spans), duration)


def test_numbers_lengths_and_gaps_of_events():
    numbers = describe_event_sets(
        {
            "v": [timed((0.0, 4.0), (6.0, 8.0), duration=10.0), timed((0.0, 8.0))],
            "w": [timed()],
        }
    )
    assert (numbers["examples"], numbers["sets of events"], numbers["events"]) == (
        2,
        3,
        3,
    )
    assert numbers["sets without events"] == 1
    assert numbers["seconds of an event, mean"] == pytest.approx(14 / 3)
    assert numbers["gaps of a set, mean"] == 1.0
    assert numbers["seconds of a gap, most"] == 2.0
    assert numbers["share of the duration without an event"] == pytest.approx(0.4)


def test_overlaps_between_annotators_and_within_a_set():
    numbers = describe_event_sets(
        {"v": [timed((0.0, 4.0), (3.0, 8.0)), timed((0.0, 8.0))]}
    )
    assert numbers["share of events that overlap another of their set"] == 2 / 3
    # 4/8 and 5/8 of the long event, which is nearest to the second one
    expected = (4 / 8 + 5 / 8 + 5 / 8) / 3
    assert numbers["overlap with another annotator, mean"] == pytest.approx(expected)
    name = "share of events that no other annotator reaches at 0.5"
    assert numbers[name] == 0.0


def test_one_annotator_has_no_overlap_with_another():
    numbers = describe_event_sets({"v": [timed((0.0, 0.0))]})
    assert not any("annotator" in name for name in numbers)
    assert numbers["share of events that overlap another of their set"] == 0.0


def test_boxes_have_overlaps_and_no_seconds():
    square = Event("a", (0.0, 0.0, 2.0, 2.0))
    half = Event("b", (0.0, 0.0, 2.0, 1.0))
    numbers = describe_event_sets({"i": [EventSet((square,)), EventSet((half,))]})
    assert numbers["overlap with another annotator, mean"] == 0.5
    assert not any("seconds" in name or "gap" in name for name in numbers)
    corners = tuple(
        float(c) for z in (0, 1) for xy in ((0, 0), (1, 1)) for c in (*xy, z)
    )
    cube = EventSet((Event("a", corners * 2),))
    numbers = describe_event_sets({"s": [cube, cube]})
    assert numbers["overlap with another annotator, mean"] == 1.0


def test_sets_without_any_event():
    assert describe_event_sets({"v": [timed()]})["events"] == 0


spans = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
    lambda pair: (float(min(pair)), float(max(pair)))
)


@given(st.lists(spans, min_size=1, max_size=6), st.booleans())
def test_gaps_are_what_no_event_covers(times, has_duration):
    gaps = find_gaps(timed(*times, duration=25.0 if has_duration else None))
    low = 0 if has_duration else min(int(start) for start, _ in times)
    high = 25 if has_duration else max(int(end) for _, end in times)
    for second in range(low, high):
        middle = second + 0.5
        covered = any(start < middle < end for start, end in times)
        assert covered != any(start < middle < end for start, end in gaps)
