"""Videos, images and scenes as they are drawn: sets of events in lanes, annotators
above systems, and the pairs between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from harness.contracts import CaptionSet, Event, EventMatch, EventSet, Geometry
from harness.reporting.event_matching import Matches, event_sets, find_matches
from harness.reporting.table import number, shown_names
from harness.results import Run

MOST_SCENES = 24
"""Videos, images or scenes that are drawn."""
MOST_EVENTS = 200
"""Events of a set that are drawn: the first ones by their starts, or in their order."""
MOST_SHAPES = 6000
"""Events that are drawn in all; what follows is left out."""


@dataclass(frozen=True)
class Lane:
    """The events of an annotator or a system, those that are drawn."""

    name: str
    events: tuple[tuple[int, Event], ...]
    """Position in the set and event, in the order of the drawing."""
    is_system: bool
    left_out: int = 0
    missing: bool = False
    score: float | None = None
    """Score of the example by the metric whose pairs are shown."""


class EventPair(NamedTuple):
    """A matched pair: lanes, and positions in their sets."""

    system: int
    prediction: int
    annotator: int
    reference: int
    match: EventMatch


@dataclass(frozen=True)
class Scene:
    """A video, image or scene."""

    id: str
    lanes: tuple[Lane, ...]
    pairs: tuple[EventPair, ...]
    geometry: Geometry
    duration: float | None = None

    @property
    def systems(self) -> list[int]:
        """Lanes of systems."""
        return [k for k, lane in enumerate(self.lanes) if lane.is_system]

    @property
    def annotators(self) -> list[int]:
        """Lanes of annotators."""
        return [k for k, lane in enumerate(self.lanes) if not lane.is_system]

    @cached_property
    def partners(self) -> Mapping[tuple[int, int], list[EventPair]]:
        """Lane and position of an event -> its pairs; events without one are absent."""
        partners: dict[tuple[int, int], list[EventPair]] = {}
        for pair in self.pairs:
            partners.setdefault((pair.system, pair.prediction), []).append(pair)
            partners.setdefault((pair.annotator, pair.reference), []).append(pair)
        return partners


@dataclass(frozen=True)
class Scenes:
    """Examples of a run that a page draws, and their pairs."""

    scenes: tuple[Scene, ...] = ()
    matches: Matches = field(default_factory=Matches)
    note: str = ""
    """Sentence on the examples that are drawn, where they are not all."""

    @property
    def largest(self) -> float:
        """Largest addend of a pair, 0 without pairs."""
        return max(
            (pair.match.score for scene in self.scenes for pair in scene.pairs),
            default=0.0,
        )


def scenes_of(run: Run, most: int = MOST_SCENES) -> Scenes:
    """Return the examples of a run that are drawn; none for a run without sets of
    events.
    """
    systems = run.samples.systems
    if not systems:
        return Scenes()
    own = [event_sets(system) for system in systems]
    if not any(own):
        return Scenes()

    every_id = list(dict.fromkeys(item.id for sets in own for item in sets))
    label = _ordering_metric(run)
    ids = select_examples(every_id, _mean_scores(run, label, every_id), most)
    matches = find_matches(run, ids)

    sets: dict[str, list[tuple[int, CaptionSet]]] = {name: [] for name in ids}
    for k, of_system in enumerate(own):
        for item in of_system:
            if item.id in sets:
                sets[item.id].append((k, item))

    scenes: list[Scene] = []
    shapes = 0
    for name, items in sets.items():
        scene = _scene(run, name, items, matches)
        if scene is None:
            continue
        shapes += sum(len(lane.events) for lane in scene.lanes)
        if shapes > MOST_SHAPES and scenes:
            break
        scenes.append(scene)
    return Scenes(tuple(scenes), matches, _note(run, len(scenes), len(every_id), label))


def select_examples(
    ids: Sequence[str], scores: Mapping[str, float], most: int
) -> list[str]:
    """Return the examples that are drawn, in their order: all, or those with the lowest
    and the highest scores, in equal numbers.

    >>> select_examples("abcde", {"a": 0.5, "b": 0.1, "c": 0.9, "d": 0.2, "e": 0.8}, 4)
    ['b', 'c', 'd', 'e']
    """
    if len(ids) <= most:
        return list(ids)
    order = {name: place for place, name in enumerate(ids)}
    ranked = sorted(ids, key=lambda name: (scores.get(name, 0.0), order[name]))
    low = most // 2
    chosen = [*ranked[:low], *ranked[len(ranked) - (most - low) :]]
    return sorted(chosen, key=order.__getitem__)


def _ordering_metric(run: Run) -> str:
    """Return the label of the first metric with scores per example; empty without."""
    for entry in run.provenance.metrics:
        for system in run.samples.systems:
            is_scored = entry.label in system.table.metrics
            if is_scored and np.isfinite(system.scores(entry.label)).any():
                return entry.label
    return ""


def _mean_scores(run: Run, label: str, ids: Sequence[str]) -> dict[str, float]:
    """Return example -> mean score over the systems that have one."""
    if not label:
        return {}
    values: dict[str, list[float]] = {name: [] for name in ids}
    for system in run.samples.systems:
        if label not in system.table.metrics:
            continue
        for name, value in zip(system.examples, system.scores(label).tolist()):
            if name in values and math.isfinite(value):
                values[name].append(value)
    return {name: sum(own) / len(own) for name, own in values.items() if own}


def _note(run: Run, drawn: int, total: int, label: str) -> str:
    """Return which examples are drawn; empty where they all are."""
    if drawn == total:
        return ""
    names = shown_names(run.records)
    by = f" by the mean of {names.get(label, label)} over systems" if label else ""
    return (
        f"{drawn:,} of {total:,} examples: the lowest and the highest{by}. "
        "All are under Examples."
    )


def _scene(
    run: Run, name: str, items: Sequence[tuple[int, CaptionSet]], matches: Matches
) -> Scene | None:
    """Return an example as it is drawn; None for one without events, or with events of
    several geometries.
    """
    # systems without all annotators (held-out people) have lanes of the others
    texts: list[str] = []
    for _, item in sorted(items, key=lambda entry: -len(entry[1].references)):
        rest = list(texts)
        for text in item.references:
            if text in rest:
                rest.remove(text)
            else:
                texts.append(text)
    sets = [EventSet.from_text(text) for text in texts]
    lanes = [
        _lane(f"annotator {k}" if len(sets) > 1 else "annotator", events, False)
        for k, events in enumerate(sets, 1)
    ]

    labels = run.samples.labels
    pairs: list[EventPair] = []
    for k, item in items:
        system = run.samples.systems[k]
        places = _lanes_of(item.references, texts)
        of_system = matches.systems[k] if matches.systems else {}
        score = None
        if matches.label in system.table.metrics:
            score = float(system.scores(matches.label)[system.row_of[name]])
        for number_of_set, text in enumerate(item.candidates):
            events = EventSet.from_text(text)
            sets.append(events)
            label = labels[system.model, system.decoding_key]
            if len(item.candidates) > 1:
                label += f" #{number_of_set + 1}"
            if name in of_system:
                pairs += [
                    EventPair(
                        len(lanes),
                        match.prediction,
                        places[match.annotator],
                        match.reference,
                        match,
                    )
                    # a pair that adds nothing joins what has nothing in common
                    for match in of_system[name][number_of_set]
                    if match.score > 0
                ]
            lanes.append(_lane(label, events, True, score))

    geometries: set[Geometry] = {
        event.geometry for events in sets for event in events.events
    }
    if len(geometries) != 1:
        return None
    drawn = [{position for position, _ in lane.events} for lane in lanes]
    durations = [events.duration for events in sets if events.duration]
    return Scene(
        name,
        tuple(lanes),
        tuple(
            pair
            for pair in pairs
            if pair.prediction in drawn[pair.system]
            and pair.reference in drawn[pair.annotator]
        ),
        geometries.pop(),
        max(durations, default=None),
    )


def _lanes_of(references: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Return the lane of each reference of a system; equal sets have lanes of their
    own.
    """
    free = list(range(len(texts)))
    lanes: list[int] = []
    for text in references:
        lane = next(k for k in free if texts[k] == text)
        free.remove(lane)
        lanes.append(lane)
    return lanes


def _lane(
    name: str, events: EventSet, is_system: bool, score: float | None = None
) -> Lane:
    """Return the lane of a set."""
    numbered = list(enumerate(events.events))
    if numbered and numbered[0][1].geometry == "time":
        numbered.sort(key=lambda entry: min(entry[1].place))
    drawn = tuple(numbered[:MOST_EVENTS])
    left_out = len(numbered) - len(drawn)
    return Lane(name, drawn, is_system, left_out, events.missing, score)


def score_text(lane: Lane) -> str:
    """Return the score of a lane in words; empty without one."""
    if lane.score is None:
        return ""
    return "no score" if math.isnan(lane.score) else number(lane.score)


def lane_text(lane: Lane) -> str:
    """Return what a lane without events says."""
    return "no prediction" if lane.missing else "no events"
