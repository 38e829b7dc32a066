"""Section of a report with a timeline of each video, annotators above systems."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.contracts import CaptionSet, EventSet, Values, is_event_set
from harness_metrics.dense.overlaps import time_overlaps

MOST_VIDEOS = 100
"""Videos that are drawn; the first ones of the run."""
WIDTH, LANE, BAR, LABELS = 1000, 22, 16, 200
"""Width of a timeline, height of a lane and of a bar, and width of the names, in
units of the drawing.
"""


class Lane(NamedTuple):
    """Events of an annotator or a system."""

    name: str
    events: EventSet
    is_system: bool


class TimelineSection:
    """Timelines of the videos of a run whose captions are events with times."""

    title = "Timelines"

    def lines(self, run: Any) -> Iterator[str]:
        """Yield nothing: a terminal has the numbers."""
        yield from ()

    def values(self, run: Any) -> Sequence[Values]:
        """Return nothing: the sets of events are in the samples."""
        return ()

    def html(self, run: Any) -> str:
        """Return a drawing of each video, with its events in a table to unfold; empty
        for a run without events with times.
        """
        systems = run.samples.systems
        if not systems:
            return ""
        by_video: dict[str, list[tuple[str, CaptionSet]]] = {}
        for system in systems:
            sets = system.caption_sets()
            if not sets or not all(map(is_event_set, sets[0].candidates)):
                return ""
            for item in sets[:MOST_VIDEOS]:
                by_video.setdefault(item.id, []).append((system.label, item))

        drawn = [
            _timeline(video, lanes)
            for video, items in list(by_video.items())[:MOST_VIDEOS]
            if (lanes := _lanes(items))
        ]
        if not drawn:
            return ""
        return (
            "<p class='soft'>Annotators above, systems below. The darker the event of "
            "a system, the larger its overlap with an event of an annotator; a click "
            "shows the words.</p>" + "".join(drawn)
        )


def _lanes(items: Iterable[tuple[str, CaptionSet]]) -> list[Lane]:
    """Return the lanes of a video; none where its events have no times."""
    lanes: list[Lane] = []
    for label, item in items:
        if not lanes:
            lanes += [
                Lane(f"annotator {number}", EventSet.from_text(text), False)
                for number, text in enumerate(item.references, 1)
            ]
        lanes += [
            Lane(label, EventSet.from_text(text), True) for text in item.candidates
        ]
    events = [event for lane in lanes for event in lane.events.events]
    return lanes if events and all(e.geometry == "time" for e in events) else []


def _timeline(video: str, lanes: Sequence[Lane]) -> str:
    """Return the figure of a video."""
    truth = np.array(
        [
            event.place
            for lane in lanes
            if not lane.is_system
            for event in lane.events.events
        ]
    ).reshape(-1, 2)
    ends = [event.place[1] for lane in lanes for event in lane.events.events]
    durations = [lane.events.duration or 0.0 for lane in lanes]
    length = max([*ends, *durations]) or 1.0
    height = LANE * len(lanes) + 18
    parts = [
        f"<svg viewBox='0 0 {WIDTH} {height}' role='img' "
        f"aria-label='timeline of {html.escape(video, quote=True)}' "
        "style='width:100%;max-width:80rem;height:auto'>"
    ]
    for row, lane in enumerate(lanes):
        parts += _lane(lane, row * LANE, length, truth)
    parts.append(
        f"<text x='{LABELS}' y='{height - 4}' font-size='12' fill='var(--soft)'>0 s"
        f"</text><text x='{WIDTH}' y='{height - 4}' font-size='12' text-anchor='end' "
        f"fill='var(--soft)'>{length:g} s</text></svg>"
    )
    name = html.escape(video)
    return (
        f"<details class='timeline'><summary>{name}{''.join(parts)}</summary>"
        f"{_table(lanes)}</details>"
    )


def _lane(lane: Lane, top: int, length: float, truth: np.ndarray) -> Iterator[str]:
    """Yield the drawing of a lane."""
    name = html.escape(lane.name if len(lane.name) < 29 else f"{lane.name[:27]}…")
    base = top + BAR - 3
    yield f"<text x='0' y='{base}' font-size='13' fill='var(--ink)'>{name}</text>"
    scale = (WIDTH - LABELS) / length
    for event in lane.events.events:
        start, end = sorted(event.place)
        opacity = 1.0
        if lane.is_system:
            overlaps = time_overlaps(np.array([[start, end]]), truth)
            opacity = 0.15 + 0.85 * float(overlaps.max(initial=0.0))
        colour = "var(--a)" if lane.is_system else "var(--people)"
        title = html.escape(f"{start:g} to {end:g} s: {event.text}")
        yield (
            f"<rect x='{LABELS + start * scale:.1f}' y='{top + 2}' "
            f"width='{max((end - start) * scale, 2.0):.1f}' height='{BAR}' rx='2' "
            f"fill='{colour}' fill-opacity='{opacity:.2f}' stroke='{colour}'>"
            f"<title>{title}</title></rect>"
        )


def _table(lanes: Sequence[Lane]) -> str:
    """Return the events in words."""
    rows: list[str] = []
    for lane in lanes:
        for event in lane.events.events:
            start, end = event.place
            cells = (lane.name, f"{start:g}", f"{end:g}", event.text)
            texts = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
            rows.append(f"<tr>{texts}</tr>")
        if not lane.events.events:
            state = "no prediction" if lane.events.missing else "no events"
            rows.append(
                f"<tr><td>{html.escape(lane.name)}</td><td></td><td></td>"
                f"<td>{state}</td></tr>"
            )
    head = "<tr><th>who</th><th>start, s</th><th>end, s</th><th>caption</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


SECTION = TimelineSection()
