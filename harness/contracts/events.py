"""Captions of parts: events with a time or a box, and sets of them as the texts that
flow through a run.

One annotator's description of a video, scene or image is one reference, and one
system's is one candidate: a set of events, whose text is :meth:`EventSet.to_text`. All
that the engine does with texts (shards, stores, resampling, held-out annotators) holds
for sets of events too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

from harness.contracts.parameters import Parameters, Values
from harness.errors import InputError

__all__ = ["GEOMETRIES", "Event", "EventSet", "Geometry", "is_event_set"]

Geometry = Literal["time", "box", "box3d"]
"""Kind of place: an interval of time, a box in an image, a box in a scene."""
GEOMETRIES: dict[int, Geometry] = {2: "time", 4: "box", 24: "box3d"}
"""Number of coordinates -> geometry."""
_MARK = "harness-events:1 "
"""Beginning of the text of a set of events, with the version of the layout."""
_EVENT_KEYS = {"text", "place", "score", "label"}


@dataclass(frozen=True, slots=True)
class Event:
    """A caption with its place."""

    text: str
    place: tuple[float, ...]
    """Start and end in seconds; left, top, right and bottom of a box in an image; or
    x, y and z of the eight corners of a box in a scene.
    """
    score: float | None = None
    """Confidence of a system, higher for a surer event."""
    label: str = ""
    """Class of an object, or its id among the references."""

    @property
    def geometry(self) -> Geometry:
        """Kind of the place."""
        return GEOMETRIES[len(self.place)]


@dataclass(frozen=True, slots=True)
class EventSet:
    """Events by which one annotator or system describes a video, an image or a scene.

    >>> events = EventSet((Event("a dog", (0.0, 2.5)),), duration=9.0)
    >>> EventSet.from_text(events.to_text()) == events
    True
    """

    events: tuple[Event, ...]
    duration: float | None = None
    """Length of the video in seconds."""
    missing: bool = False
    """True where a system said nothing about the video, unlike an empty list."""

    def to_text(self) -> str:
        """Return the set as one line of text; numbers keep all digits."""
        events: list[Values] = []
        for event in self.events:
            fields: Values = {"text": event.text, "place": list(event.place)}
            if event.score is not None:
                fields["score"] = event.score
            if event.label:
                fields["label"] = event.label
            events.append(fields)
        content: Values = {"events": events}
        if self.duration is not None:
            content["duration"] = self.duration
        if self.missing:
            content["missing"] = True
        return _MARK + json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> EventSet:
        """Return the set of a text; raise :class:`InputError` for a text that is none.

        A caption without a place is none: a metric of events cannot score it.
        """
        if not is_event_set(text):
            raise InputError(
                f"found the caption {text!r:.60} without a time or box; expected events"
            )
        try:
            content: Any = json.loads(text[len(_MARK) :])
        except json.JSONDecodeError as error:
            raise InputError(
                f"the set of events {text!r:.60} is cut off or changed: {error}"
            ) from error
        events = tuple(_event(item) for item in content["events"])
        return cls(events, content.get("duration"), content.get("missing", False))


def _event(fields: Parameters) -> Event:
    unknown = set(fields) - _EVENT_KEYS
    if unknown:
        raise InputError(
            f"an event has {', '.join(sorted(unknown))}; "
            f"expected {', '.join(sorted(_EVENT_KEYS))}"
        )
    place = tuple(cast("list[float]", fields["place"]))
    return Event(fields["text"], place, fields.get("score"), fields.get("label", ""))


def is_event_set(text: str) -> bool:
    """Return True for the text of a set of events.

    >>> is_event_set("a dog"), is_event_set(EventSet(()).to_text())
    (False, True)
    """
    return text.startswith(_MARK)
