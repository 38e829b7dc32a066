"""Sets of events of a batch as arrays, checked for a protocol."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.contracts import Batch, EventSet, Features, Geometry
from harness.errors import InputError
from harness_metrics.dense.overlaps import are_turned_boxes

_NOT_ASCII = re.compile(r"[^\x00-\x7f]|[\r\n]")
TOO_LATE = 20.0
"""Latest end over the duration above which times are taken for milliseconds."""
_NOUNS = {
    "time": "times",
    "box": "boxes in an image",
    "box3d": "boxes in a scene",
}


@dataclass(frozen=True, eq=False)
class Side:
    """Events of one annotator or system."""

    places: np.ndarray
    """Shape (n, 2) or (n, 4), or (n, 8, 3) for boxes in scenes."""
    texts: np.ndarray
    """Ids of the texts, shape (n,)."""
    scores: np.ndarray
    """Confidence of each event, shape (n,), NaN without one."""
    labels: tuple[str, ...] = ()
    missing: bool = False

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: np.ndarray | slice) -> Side:
        """Return some events."""
        kept: list[int] = np.arange(len(self))[rows].tolist()
        return Side(
            self.places[rows],
            self.texts[rows],
            self.scores[rows],
            tuple(self.labels[k] for k in kept),
            self.missing,
        )


@dataclass(frozen=True, eq=False)
class Video:
    """A video, image or scene: the system's events and those of each annotator."""

    id: str
    system: Side
    annotators: tuple[Side, ...]
    """Annotators who described something, in the order of the files."""

    @cached_property
    def merged(self) -> Side:
        """The events of all annotators, one after the other."""
        sides = self.annotators
        return Side(
            np.concatenate([side.places for side in sides]),
            np.concatenate([side.texts for side in sides]),
            np.concatenate([side.scores for side in sides]),
            tuple(label for side in sides for label in side.labels),
        )

    @cached_property
    def annotator_of(self) -> np.ndarray:
        """Annotator of each event of :attr:`merged`, shape (m,)."""
        sizes = [len(side) for side in self.annotators]
        return np.repeat(np.arange(len(sizes)), sizes)


@dataclass(frozen=True)
class SideRules:
    """Treatment of events by a protocol before anything is computed."""

    name: str
    """Name of the protocol, for messages."""
    geometry: Geometry | None = "time"
    """Kind of the places; None for any one kind."""
    ascii_only: bool = False
    """Characters beyond ASCII become blanks."""
    swaps: bool = False
    """Start and end are exchanged where the end comes first, which is refused else."""
    limit: int | None = None
    """The first predictions of a file that count."""
    turned: bool = False
    """Boxes in scenes are compared as they are turned, not by their hulls, and have to
    be boxes."""


def read_videos(
    batch: Batch, features: Features, rules: SideRules
) -> list[list[Video]]:
    """Return the videos of each of the n candidates of a batch, n lists of B.

    Raises :class:`InputError` for texts that are no events, another geometry, an end
    before its start, and times in milliseconds.
    """
    videos: list[list[Video]] = [[] for _ in range(batch.n)]
    for example_id, sides in zip(batch.ids, read_sides(batch, features, rules)):
        annotators = tuple(side for side in sides[batch.n :] if len(side))
        for column, system in enumerate(sides[: batch.n]):
            videos[column].append(Video(example_id, system, annotators))
    return videos


def read_sides(
    batch: Batch, features: Features, rules: SideRules
) -> list[tuple[Side, ...]]:
    """Return the N sides of each example, the n systems first and empty ones included;
    raises as :func:`read_videos`.
    """
    ids = batch.text_ids
    sets = features.per_text(
        ("event-sets",), ids.ravel(), lambda texts: [*map(EventSet.from_text, texts)]
    )
    width = ids.shape[1]
    examples: list[tuple[Side, ...]] = []
    for row, example_id in enumerate(batch.ids):
        own = sets[row * width : (row + 1) * width]
        durations = [item.duration for item in own if item.duration is not None]
        annotators: list[Side] = []
        for item in own[batch.n :]:
            where = f"references: '{example_id}'"
            annotators.append(_side(item, features, rules, where, None))
            _check_unit(annotators[-1], durations, where)
        length = max(durations, default=None) or _last_end(annotators)
        systems: list[Side] = []
        for item in own[: batch.n]:
            where = f"candidates: '{example_id}'"
            side = _side(item, features, rules, where, rules.limit)
            _check_unit(side, [] if length is None else [length], where)
            systems.append(side)
        examples.append((*systems, *annotators))
    return examples


def _side(
    events: EventSet,
    features: Features,
    rules: SideRules,
    where: str,
    limit: int | None,
) -> Side:
    kept = events.events[:limit]
    geometry = rules.geometry or (kept[0].geometry if kept else "time")
    for number, event in enumerate(kept, 1):
        if event.geometry != geometry:
            expected = f"the protocol {rules.name} scores {_NOUNS[geometry]}"
            if rules.geometry is None:
                expected = f"event 1 has {_NOUNS[geometry]}; expected one kind"
            raise InputError(
                f"event {number} has {_NOUNS[event.geometry]}; {expected}", where
            )
    texts = [event.text for event in kept]
    if rules.ascii_only:
        texts = [
            text if text.isascii() and text.isprintable() else _NOT_ASCII.sub(" ", text)
            for text in texts
        ]

    shape = {"time": (-1, 2), "box": (-1, 4), "box3d": (-1, 8, 3)}[geometry]
    places = np.array([event.place for event in kept], dtype=np.float64).reshape(shape)
    if geometry == "time":
        places = _in_order(places, rules, where)
    if geometry == "box3d" and rules.turned:
        check_boxes(places, where)
    return Side(
        places,
        features.intern(texts) if texts else np.zeros(0, dtype=np.int64),
        np.array(
            [np.nan if e.score is None else e.score for e in kept], dtype=np.float64
        ),
        tuple(event.label for event in kept),
        events.missing,
    )


def check_confidence(system: Side, example: str, protocol: str) -> None:
    """Raise :class:`InputError` for a predicted event without a confidence."""
    unsure = np.flatnonzero(np.isnan(system.scores))
    if len(unsure):
        raise InputError(
            f"event {int(unsure[0]) + 1} has no score; {protocol} sorts by confidence "
            "and expects one for each event",
            f"candidates: '{example}'",
        )


def check_boxes(places: np.ndarray, where: str) -> None:
    """Raise :class:`InputError` for eight corners that are no box turned about z."""
    others = np.flatnonzero(~are_turned_boxes(places))
    if len(others):
        raise InputError(
            f"the corners of event {int(others[0]) + 1} are those of no box that is "
            "turned about z; expected eight of one (dense:overlap=iou3d-hull, vote2cap "
            "and scan2cap take the axis-aligned hull of any)",
            where,
        )


def _in_order(times: np.ndarray, rules: SideRules, where: str) -> np.ndarray:
    """Return times with the start first; raise :class:`InputError` for others where the
    protocol has no rule for them.
    """
    reversed_rows = np.flatnonzero(times[:, 1] < times[:, 0])
    if not len(reversed_rows):
        return times
    if rules.swaps:
        return np.sort(times, axis=1)
    first = int(reversed_rows[0])
    start, end = times[first].tolist()
    raise InputError(
        f"event {first + 1} ends at {end:g} before it starts at {start:g}; expected "
        "start and end (the protocol vid2seq exchanges them)",
        where,
    )


def _last_end(annotators: Sequence[Side]) -> float | None:
    """Return the last end of the events of annotators, which stands for the length of a
    video without a duration; None without times.
    """
    ends = [
        float(side.places[:, 1].max())
        for side in annotators
        if len(side) and side.places.shape[1:] == (2,)
    ]
    return max(ends, default=None) or None


def _check_unit(side: Side, durations: Sequence[float], where: str) -> None:
    """Raise :class:`InputError` for times that lie so far behind the end of the video
    that they are milliseconds.
    """
    if not durations or not len(side):
        return
    if side.places.shape[1:] != (2,):
        return
    latest = float(np.median(side.places[:, 1]))
    duration = max(durations)
    if latest > TOO_LATE * duration:
        raise InputError(
            f"half of the events end after {latest:g} and the video has {duration:g} "
            "seconds: these seem to be milliseconds; expected seconds",
            where,
        )
