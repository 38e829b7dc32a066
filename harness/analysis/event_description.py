"""Description of sets of events: their numbers, lengths and gaps, and the overlaps of
annotators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from harness.analysis.description import describe_captions
from harness.contracts import EventSet

REACHED = 0.5
"""Overlap from which on an event of another annotator reaches one."""
_OF_WORDS = ("words ", "distinct ", "share of ", "captions without")
"""Beginnings of the numbers of captions that hold for the texts of events."""


def describe_event_sets(sets: Mapping[str, Sequence[EventSet]]) -> dict[str, float]:
    """Return numbers that describe the events of a data set.

    Parameters
    ----------
    sets : mapping
        Id of a video, image or scene -> the set of each annotator; at least one set in
        all.

    Returns
    -------
    dict
        Numbers of examples, sets and events. Of events with times also their lengths in
        seconds, and the gaps of a set: times within the duration, or without one
        between its first start and last end, that no event covers. The share of events
        that overlap another of their own set. Where annotators share examples, the mean
        over events of the largest IoU with an event of another annotator (of boxes in
        scenes that of their axis-aligned hulls) and the share of events that none
        reaches at :data:`REACHED`. At last numbers of the words, as
        :func:`~harness.analysis.description.describe_captions` has them.

    Examples
    --------
    >>> from harness.contracts import Event
    >>> one = EventSet((Event("a", (0.0, 4.0)), Event("b", (6.0, 8.0))), 10.0)
    >>> two = EventSet((Event("c", (0.0, 8.0)),), 10.0)
    >>> numbers = describe_event_sets({"v": [one, two]})
    >>> numbers["events"], numbers["gaps of a set, mean"]
    (3, 1.5)
    >>> round(numbers["overlap with another annotator, mean"], 3)
    0.417
    """
    every_set = [own for of_example in sets.values() for own in of_example]
    sizes = np.array([len(own.events) for own in every_set])
    numbers: dict[str, float] = {
        "examples": len(sets),
        "sets of events": len(every_set),
        "sets of an example, mean": len(every_set) / len(sets),
        "events": int(sizes.sum()),
        "events of a set, mean": float(sizes.mean()),
        "events of a set, fewest": int(sizes.min()),
        "events of a set, most": int(sizes.max()),
        "sets without events": int((sizes == 0).sum()),
    }
    filled = [own for own in every_set if own.events]
    if not filled:
        return numbers
    if all(own.events[0].geometry == "time" for own in filled):
        numbers |= _describe_times(filled)
    own_overlaps = [_largest_overlaps(own, own, own=True) for own in filled]
    within = np.concatenate(own_overlaps)
    numbers["share of events that overlap another of their set"] = float(
        (within > 0).mean()
    )
    numbers |= _describe_annotators(sets)

    texts = {
        key: [event.text for own in of_example for event in own.events]
        for key, of_example in sets.items()
    }
    words = describe_captions({key: own for key, own in texts.items() if own})
    return numbers | {k: v for k, v in words.items() if k.startswith(_OF_WORDS)}


def _describe_times(filled: Sequence[EventSet]) -> dict[str, float]:
    """Return the numbers of lengths and gaps of sets with times."""
    lengths = np.array(
        [event.place[1] - event.place[0] for own in filled for event in own.events]
    )
    gaps = [find_gaps(own) for own in filled]
    longest = [max((end - start for start, end in own), default=0.0) for own in gaps]
    shares: list[float] = []
    for own, of_set in zip(filled, gaps):
        if own.duration:
            shares.append(sum(end - start for start, end in of_set) / own.duration)
    numbers = {
        "seconds of an event, mean": float(lengths.mean()),
        "seconds of an event, median": float(np.median(lengths)),
        "seconds of an event, most": float(lengths.max()),
        "gaps of a set, mean": float(np.mean([len(own) for own in gaps])),
        "seconds of a gap, most": float(max(longest)),
    }
    if shares:
        numbers["share of the duration without an event"] = float(np.mean(shares))
    return numbers


def find_gaps(events: EventSet) -> list[tuple[float, float]]:
    """Return the times that no event of a set covers: within the duration, or without
    one between its first start and last end.

    >>> from harness.contracts import Event
    >>> find_gaps(EventSet((Event("a", (1.0, 4.0)), Event("b", (3.0, 6.0))), 9.0))
    [(0.0, 1.0), (6.0, 9.0)]
    """
    spans = sorted((min(event.place), max(event.place)) for event in events.events)
    covered = 0.0 if events.duration is not None else spans[0][0]
    gaps: list[tuple[float, float]] = []
    for start, end in spans:
        if start > covered:
            gaps.append((covered, start))
        covered = max(covered, end)
    if events.duration is not None and events.duration > covered:
        gaps.append((covered, events.duration))
    return gaps


def _describe_annotators(sets: Mapping[str, Sequence[EventSet]]) -> dict[str, float]:
    """Return the overlaps of the events of annotators with those of each other one."""
    overlaps: list[np.ndarray] = []
    for of_example in sets.values():
        filled = [own for own in of_example if own.events]
        overlaps += [
            _largest_overlaps(first, second)
            for first, second in permutations(filled, 2)
            if first.events[0].geometry == second.events[0].geometry
        ]
    if not overlaps:
        return {}
    every_overlap = np.concatenate(overlaps)
    return {
        "overlap with another annotator, mean": float(every_overlap.mean()),
        f"share of events that no other annotator reaches at {REACHED:g}": float(
            (every_overlap < REACHED).mean()
        ),
    }


def _largest_overlaps(
    first: EventSet, second: EventSet, *, own: bool = False
) -> np.ndarray:
    """Return the largest IoU of each event with those of another set, shape (n,).

    With ``own`` both are one set, and an event is not compared with itself.
    """
    low, high = _bounds(first)
    other_low, other_high = _bounds(second)
    sizes = (high - low).prod(axis=1)
    other_sizes = (other_high - other_low).prod(axis=1)
    largest = np.zeros(len(low))
    # a row at a time: a set of 10^5 events needs no square matrix
    for row in range(len(low)):
        edges = np.minimum(high[row], other_high) - np.maximum(low[row], other_low)
        common = np.maximum(edges, 0.0).prod(axis=1)
        union = sizes[row] + other_sizes - common
        overlaps = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
        if own:
            overlaps[row] = 0.0
        largest[row] = overlaps.max()
    return largest


def _bounds(events: EventSet) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and high ends of the events by axis, two arrays (n, d)."""
    places = np.array([event.place for event in events.events], dtype=np.float64)
    # a start and an end, or corners
    axes = {"time": 1, "box": 2, "box3d": 3}[events.events[0].geometry]
    corners = places.reshape(len(places), -1, axes)
    return corners.min(axis=1), corners.max(axis=1)
