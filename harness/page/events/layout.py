"""Places of events in a drawing of time: lanes one below the other, rows for events of
a set that overlap, and ticks of the axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.contracts import Event
from harness.page.events.scenes import Lane, Scene

MOST_ROWS = 6
"""Rows of a lane; what overlaps more than so many events is drawn in the last one."""
SHORTEST = 0.004
"""Width of the shortest bar as a share of the drawing."""
TOUCHING = 1e-6
"""Overlap of two bars, as a share of the drawing, that rounding makes."""
LONG = 300.0
"""Seconds from which on ticks are minutes and seconds."""


class EventBar(NamedTuple):
    """The bar of an event in its lane."""

    position: int
    """Position in the set."""
    event: Event
    left: float
    width: float
    """Left end and width, as shares of the drawing."""
    top: float
    """Distance from the top of the lane."""


class DrawnLane(NamedTuple):
    """A lane with its place and its bars."""

    lane: Lane
    top: float
    height: float
    bars: list[EventBar]


def lay_out_lanes(
    scene: Scene, name: float, row: float, gap: float = 0
) -> list[DrawnLane]:
    """Return the lanes one below the other: a name, rows of bars and a gap each, with
    these heights.
    """
    drawn: list[DrawnLane] = []
    top: float = 0
    for lane, places in zip(scene.lanes, time_spans(scene)):
        rows = pack_rows([(left, left + width) for left, width in places])
        bars = [
            EventBar(position, event, left, width, name + row * line)
            for (position, event), (left, width), line in zip(lane.events, places, rows)
        ]
        height = name + row * (max(rows, default=0) + 1) + gap
        drawn.append(DrawnLane(lane, top, height, bars))
        top += height
    return drawn


def length_of(scene: Scene) -> float:
    """Return the seconds of a timeline: its duration, and the last end behind it."""
    ends = [max(event.place) for lane in scene.lanes for _, event in lane.events]
    return max([*ends, scene.duration or 0.0]) or 1.0


def pack_rows(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return a row for each span, the spans in the order of their starts, so that those
    of a row do not overlap while there are rows.

    >>> pack_rows([(0.0, 4.0), (1.0, 2.0), (4.0, 5.0)])
    [0, 1, 0]
    """
    ends: list[float] = []
    rows: list[int] = []
    for start, end in spans:
        free = next(
            (row for row, last in enumerate(ends) if last <= start + TOUCHING),
            len(ends),
        )
        row = min(free, MOST_ROWS - 1)
        if row == len(ends):
            ends.append(end)
        ends[row] = max(ends[row], end)
        rows.append(row)
    return rows


def time_spans(scene: Scene) -> list[list[tuple[float, float]]]:
    """Return left end and width of the bars of each lane, as shares of the drawing."""
    length = length_of(scene)
    spans: list[list[tuple[float, float]]] = []
    for lane in scene.lanes:
        own: list[tuple[float, float]] = []
        for _, event in lane.events:
            start, end = sorted(event.place)
            width = max((end - start) / length, SHORTEST)
            own.append((min(start / length, 1 - width), width))
        spans.append(own)
    return spans


def ticks(length: float, most: int = 6) -> list[float]:
    """Return round seconds from 0 to a length, at most ``most`` + 1.

    >>> ticks(62.0), ticks(0.9)
    ([0.0, 20.0, 40.0, 60.0], [0.0, 0.2, 0.4, 0.6, 0.8])
    """
    power = 10.0 ** math.floor(math.log10(length / most))
    steps = [1, 2, 5, 10, 20]
    if power >= 10 and length >= LONG:
        power, steps = 1.0, [60, 120, 300, 600, 1200, 1800, 3600, 7200]
    step = next((s * power for s in steps if s * power * most >= length), length)
    return [round(k * step, 9) for k in range(int(length / step + 1e-9) + 1)]


def clock_text(seconds: float, length: float) -> str:
    """Return seconds as the axis of a drawing of a length has them.

    >>> clock_text(90.0, 100.0), clock_text(90.0, 400.0)
    ('90 s', '1:30')
    """
    if length < LONG:
        return f"{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
