"""Protocols of ``dense`` on systems that are made worse by degrees: faults that a
protocol does not see, and Kendall's tau between the orders of protocols.

    python -m benchmarks.dense_protocols [--videos 62] [--seed 0] [--write]

Videos are sequences of four scenes of the shipped sample; each of two annotators and
the system has a caption of another person for a scene. The second annotator joins some
scenes.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import harness
from harness.contracts import Event, EventSet
from harness.stats.correlation import correlate_columns

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "tasks" / "harness_tasks" / "sample" / "captions.json"
PAGE = ROOT / "docs" / "dense.md"
GRADES = (0.25, 0.5, 0.75, 1.0)
SCENES = 4
PROTOCOLS = (
    "matched",
    "activitynet-2017",
    "activitynet-2018",
    "activitynet-2019",
    "soda-c",
    "soda-d",
    "paragraph",
)
Events = list[Event]
Videos = dict[str, Events]
Perturbation = Callable[[Events, float, random.Random, Events], Events]


def captions_by_scene() -> list[list[str]]:
    """Return the captions of each scene of the shipped sample."""
    captions: dict[int, list[str]] = {}
    for row in json.loads(SAMPLE.read_text("utf-8"))["annotations"]:
        captions.setdefault(row["image_id"], []).append(row["caption"])
    return list(captions.values())


def make_videos(count: int, seed: int) -> tuple[Videos, list[Videos]]:
    """Return the events of an undisturbed system, and those of two annotators."""
    rng = random.Random(seed)
    scenes = captions_by_scene()
    system: Videos = {}
    annotators: list[Videos] = [{}, {}]
    for number in range(count):
        own: list[Events] = [[], [], []]
        start = 0.0
        for scene in rng.sample(scenes, SCENES):
            end = start + rng.choice([8.0, 12.0, 20.0])
            for events, text in zip(own, rng.sample(scene, 3)):
                events.append(Event(text, (start, end)))
            start = end
        name = f"video {number}"
        system[name] = own[0]
        annotators[0][name] = own[1]
        annotators[1][name] = join_events(own[2], 0.3, rng, [])
    return system, annotators


def shift_events(events: Events, grade: float, rng: object, other: Events) -> Events:
    """Move every event by a share of .8 of its length: a whole length lies on its
    neighbour.
    """
    moved: Events = []
    for event in events:
        start, end = event.place
        step = 0.8 * grade * (end - start)
        moved.append(replace(event, place=(start + step, end + step)))
    return moved


def join_events(
    events: Events, grade: float, rng: random.Random, other: Events
) -> Events:
    """Join a share of neighbouring events to one."""
    joined: Events = [events[0]]
    for event in events[1:]:
        if rng.random() < grade:
            last = joined.pop()
            text = f"{last.text} {event.text}"
            joined.append(Event(text, (last.place[0], event.place[1])))
        else:
            joined.append(event)
    return joined


def split_events(
    events: Events, grade: float, rng: random.Random, other: Events
) -> Events:
    """Divide a share of the events into halves with the same words."""
    out: Events = []
    for event in events:
        start, end = event.place
        if rng.random() < grade:
            middle = (start + end) / 2
            out += [
                Event(event.text, (start, middle)),
                Event(event.text, (middle, end)),
            ]
        else:
            out.append(event)
    return out


def drop_events(
    events: Events, grade: float, rng: random.Random, other: Events
) -> Events:
    """Leave out a share of the events behind the first, so that no video is empty."""
    return [events[0], *(event for event in events[1:] if rng.random() >= grade)]


def repeat_events(
    events: Events, grade: float, rng: random.Random, other: Events
) -> Events:
    """Give a share of the events twice."""
    return [e for event in events for e in [event] * (1 + (rng.random() < grade))]


def exchange_words(
    events: Events, grade: float, rng: random.Random, other: Events
) -> Events:
    """Give a share of the events the words of another video."""
    return [
        replace(event, text=foreign.text) if rng.random() < grade else event
        for event, foreign in zip(events, other)
    ]


def exchange_times(
    events: Events, grade: float, rng: random.Random, other: Events
) -> Events:
    """Give a share of the captions the time of the event two places away."""
    places = [event.place for event in events]
    return [
        replace(event, place=places[(k + 2) % len(places)])
        if rng.random() < grade
        else event
        for k, event in enumerate(events)
    ]


PERTURBATIONS: Mapping[str, Perturbation] = {
    "shifted": shift_events,
    "joined": join_events,
    "split": split_events,
    "dropped": drop_events,
    "repeated": repeat_events,
    "wrong words": exchange_words,
    "wrong times": exchange_times,
}


def make_systems(system: Videos, seed: int) -> dict[tuple[str, float], Videos]:
    """Return (perturbation, grade) -> events; grade 0 is the undisturbed system."""
    names = list(system)
    systems: dict[tuple[str, float], Videos] = {("none", 0.0): system}
    for label, disturb in PERTURBATIONS.items():
        for grade in GRADES:
            # the same draws at every grade: a higher one disturbs more of the same
            rng = random.Random(seed + 1)
            systems[label, grade] = {
                name: disturb(events, grade, rng, system[names[k - 1]])
                for k, (name, events) in enumerate(system.items())
            }
    whole = {
        name: [Event(events[0].text, (0.0, events[-1].place[1]))]
        for name, events in system.items()
    }
    systems["one event over everything", 1.0] = whole
    text = system[names[0]][0].text
    systems["one caption everywhere", 1.0] = {
        name: [replace(event, text=text) for event in events]
        for name, events in system.items()
    }
    return systems


def protocol_values(
    videos: int, seed: int, protocols: Sequence[str] = PROTOCOLS
) -> dict[str, dict[tuple[str, float], float]]:
    """Return protocol -> (perturbation, grade) -> number, with METEOR."""
    system, annotators = make_videos(videos, seed)
    references = {
        name: [EventSet(tuple(own[name])).to_text() for own in annotators]
        for name in system
    }
    values: dict[str, dict[tuple[str, float], float]] = {name: {} for name in protocols}
    for key, events in make_systems(system, seed).items():
        candidates = {
            name: [EventSet(tuple(own)).to_text()] for name, own in events.items()
        }
        metrics = [{"dense": {"protocol": name}} for name in protocols]
        results = harness.score(candidates, references, metrics, bootstrap=0)
        for name, result in zip(protocols, results.values()):
            values[name][key] = result.value
    return values


def make_tables(values: Mapping[str, Mapping[tuple[str, float], float]]) -> str:
    """Return the Markdown tables of faults and of tau."""
    names = list(values)
    lines = [
        "Share of the undisturbed number that is left at the grades "
        f"{', '.join(f'{grade:g}' for grade in GRADES)}; **bold**: a grade does not "
        "lower it.",
        "",
        f"| fault | {' | '.join(f'`{name}`' for name in names)} |",
        f"| --- |{' --- |' * len(names)}",
    ]
    faults = list(dict.fromkeys(label for label, _ in values[names[0]]))[1:]
    for fault in faults:
        cells = [_cell(values[name], fault) for name in names]
        lines.append(f"| {fault} | {' | '.join(cells)} |")

    lines += [
        "",
        "Kendall's tau-b between the orders of the "
        f"{len(values[names[0]])} systems by two protocols:",
        "",
        f"| | {' | '.join(f'`{name}`' for name in names)} |",
        f"| --- |{' --- |' * len(names)}",
    ]
    columns = np.array([list(values[name].values()) for name in names]).T
    for name, row in zip(names, correlate_columns(columns, columns).kendall):
        lines.append(f"| `{name}` | {' | '.join(f'{tau:.2f}' for tau in row)} |")
    return "\n".join(lines)


def _cell(values: Mapping[tuple[str, float], float], fault: str) -> str:
    """Return the shares of a fault's grades."""
    whole = values["none", 0.0]
    shares = [values[key] / whole for key in values if key[0] == fault]
    cells: list[str] = []
    for before, share in zip([1.0, *shares], shares):
        text = f"{share:.2f}"
        cells.append(f"**{text}**" if share >= before else text)
    return " ".join(cells)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=62)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    tables = make_tables(protocol_values(args.videos, args.seed))
    print(tables)
    if args.write:
        page = PAGE.read_text("utf-8")
        marks = r"(<!-- protocols -->\n).*?(<!-- /protocols -->)"
        page = re.sub(marks, lambda m: f"{m[1]}{tables}\n{m[2]}", page, flags=re.DOTALL)
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
