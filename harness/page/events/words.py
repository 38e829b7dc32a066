"""Events in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.contracts import Event, EventSet, is_event_set


def place_text(event: Event) -> str:
    """Return the place of an event in words.

    >>> place_text(Event("a dog", (1.5, 4.0)))
    '1.5 to 4 s'
    """
    place = [f"{value:g}" for value in event.place]
    if event.geometry == "time":
        return f"{place[0]} to {place[1]} s"
    if event.geometry == "box":
        return f"({place[0]}, {place[1]}) to ({place[2]}, {place[3]})"
    corners = np.array(event.place).reshape(8, 3)
    ends = zip("xyz", corners.min(axis=0), corners.max(axis=0))
    return ", ".join(f"{axis} {low:g} to {high:g}" for axis, low, high in ends)


def readable_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return captions as people read them: of a set of events, a line for each.

    >>> event = Event("a dog", (1.5, 4.0))
    >>> readable_texts(["a cat", EventSet((event,)).to_text()])
    ('a cat', '1.5 to 4 s: a dog')
    """
    return tuple(_event_lines(text) if is_event_set(text) else text for text in texts)


def _event_lines(text: str) -> str:
    events = EventSet.from_text(text)
    if not events.events:
        return "(no prediction)" if events.missing else "(no events)"
    return "\n".join(f"{place_text(event)}: {event.text}" for event in events.events)
