"""Populations of sets of events, on which the intervals of metrics of events are
calibrated (:mod:`tools.calibration`).

Videos are those of :mod:`benchmarks.dense_protocols`. In each of them a system is
disturbed in one way, to a grade that is 1 less the share that a caption of the kit
would keep (:func:`harness.testing.calibration.kept_share`); at a share of 0 it says
nothing. Objects of scenes and regions of images are laid out on a grid; a share of them
is described at its place, the others are left out, misplaced, or have the words of
another scene.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.dense_protocols import (
    PERTURBATIONS,
    Events,
    exchange_times,
    make_videos,
    shift_events,
)
from harness.contracts import CaptionSet, Event, EventSet
from harness.testing.calibration import EXAMPLES, Population, kept_share
from harness.testing.sample_captions import SCENES

OBJECTS = 6
"""Objects of a scene and regions of an image."""
DESCRIPTIONS = 2
"""Descriptions of an object."""
STEP = 3.0
"""Distance of objects, in lengths of a side."""
OF_SCENES = ("vote2cap", "scan2cap", "scan2cap-benchmark")
OF_IMAGES = ("densecap",)
PROTOCOLS = (
    "matched",
    "activitynet-2017",
    "activitynet-2018",
    "activitynet-2019",
    "vidchapters",
    "vid2seq",
    "soccernet",
    "soda-a",
    "soda-b",
    "soda-c",
    "soda-d",
    "paragraph",
    "grounding",
    *OF_SCENES,
    *OF_IMAGES,
)
CASES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    **{f"dense({name})": ("dense", {"protocol": name}) for name in PROTOCOLS},
    "dense(vidchapters,f1)": ("dense", {"protocol": "vidchapters", "measure": "f1"}),
    "dense(scan2cap-benchmark,map)": (
        "dense",
        {"protocol": "scan2cap-benchmark", "measure": "map"},
    ),
    "trm-events": ("trm-events", {"distance": "rouge"}),
    "mmd-events": ("mmd-events", {"embedding": "bow"}),
}
"""Name of a table -> metric and its parameters."""
OF_CORPUS = ("dense(densecap)", "dense(scan2cap-benchmark,map)")
"""Tables of numbers of a corpus, which repeated examples bias."""


def event_population(label: str, kind: int) -> Population:
    """Return examples of two systems for a table of :data:`CASES`.

    Parameters
    ----------
    label : str
        Name of the table.
    kind : int
        Position in :data:`harness.testing.calibration.DISTRIBUTIONS`.
    """
    count = EXAMPLES * (5 if label in OF_CORPUS else 1)
    _, parameters = CASES[label]
    protocol = parameters.get("protocol")
    if protocol in (*OF_SCENES, *OF_IMAGES):
        return _layouts(kind, count, in_scenes=protocol in OF_SCENES)
    return _videos(kind, count, is_grounded=protocol == "grounding")


def _videos(kind: int, count: int, *, is_grounded: bool) -> Population:
    """Return videos with two annotators, or with one whose sentences are given to the
    system.
    """
    rng = np.random.default_rng([3, kind])
    draws = random.Random(kind)
    system, annotators = make_videos(count, kind)
    names = list(system)
    systems: tuple[list[CaptionSet], list[CaptionSet]] = ([], [])
    for number, name in enumerate(names):
        own = annotators[0][name] if is_grounded else system[name]
        sides = annotators[:1] if is_grounded else annotators
        references = tuple(EventSet(tuple(side[name])).to_text() for side in sides)
        share = kept_share(kind, rng)
        for side in systems:
            # the number of sentences is given, so that these two alone are possible
            faults = [shift_events, exchange_times]
            if not is_grounded:
                faults = list(PERTURBATIONS.values())
            disturb = draws.choice(faults)
            events = disturb(own, 1 - share, draws, system[names[number - 1]])
            said = EventSet(tuple(events) if share else (), missing=not share)
            side.append(CaptionSet(name, (said.to_text(),), references))
    return systems


def _layouts(kind: int, count: int, *, in_scenes: bool) -> Population:
    """Return scenes with boxes of eight corners, or images with regions."""
    rng = np.random.default_rng([4, kind, in_scenes])
    systems: tuple[list[CaptionSet], list[CaptionSet]] = ([], [])
    for number in range(count):
        numbers = rng.choice(len(SCENES), OBJECTS, replace=len(SCENES) < OBJECTS)
        subjects: list[int] = numbers.tolist()
        truth: Events = []
        for place, subject in enumerate(subjects):
            texts = rng.choice(SCENES[subject], DESCRIPTIONS, replace=False)
            box = _box(STEP * place, 0.0, 1.0, in_scenes)
            truth += [Event(str(text), box, label=str(place)) for text in texts]
        references = (EventSet(tuple(truth)).to_text(),)

        share = kept_share(kind, rng)
        for side in systems:
            events = _described(subjects, share, in_scenes, rng)
            said = EventSet(tuple(events), missing=not events)
            side.append(CaptionSet(str(number), (said.to_text(),), references))
    return systems


def _described(
    subjects: Sequence[int], share: float, in_scenes: bool, rng: np.random.Generator
) -> Events:
    """Return what a system says of the objects of a scene; nothing at a share of 0."""
    events: Events = []
    for place, subject in enumerate(subjects) if share else ():
        x, y = STEP * place + rng.normal(0, 0.1, 2)
        size = 1.0 + rng.normal(0, 0.05)
        fault = "" if rng.random() < share else rng.choice(["words", "place", "none"])
        if fault == "none":
            continue
        if fault == "words":
            subject = rng.integers(len(SCENES))
        if fault == "place":
            x += 0.8
        text = str(rng.choice(SCENES[subject]))
        box = _box(x, y - STEP * place, size, in_scenes)
        events.append(Event(text, box, float(rng.random()), str(place)))
    return events


def _box(x: float, y: float, size: float, in_scenes: bool) -> tuple[float, ...]:
    """Return the corners of a cube, or a region of a hundred pixels for each unit."""
    if not in_scenes:
        return tuple(100.0 * value for value in (x, y, x + size, y + size))
    square = ((0.0, 0.0), (0.0, size), (size, size), (size, 0.0))
    corners = [(x + a, y + b, c) for c in (0.0, size) for a, b in square]
    return tuple(float(value) for corner in corners for value in corner)
