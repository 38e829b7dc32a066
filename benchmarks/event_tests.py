"""Size and power of the permutation tests of sets of events, and the table of
docs/dense.md.

    python -m benchmarks.event_tests [--draws 400] [--seed 0] [--write]

A video has four scenes of the shipped sample. Each person has a caption of another one
for a scene, and borders of their own; one in four cuts coarsely, finely, in a burst, or
describes some of the scenes alone, drawn for every set of every video. One person is
the system, whose events are disturbed as in :mod:`benchmarks.dense_protocols`. A drawn
data set has videos of a pool and is tested as a run does with ``aggregate: summed``: in
each video the system's set changes places with an annotator's, and statistics are
summed over videos. Under the null hypothesis the system is any person.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dense_protocols import (
    PERTURBATIONS,
    SCENES,
    captions_by_scene,
    join_events,
    split_events,
)
from harness.contracts import CaptionSet, Event, EventSet, MeanMetric
from harness.registry import current
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness.stats.stratified_test import rank_shares, standardise_values

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "dense.md"
LEVEL = 0.05
VIDEOS = (5, 20, 100)
POOL = 400
"""Videos from which data sets are drawn."""
RELABELINGS = 999
METRICS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "`trm-events`": ("trm-events", {}),
    "`statistic=q`": ("trm-events", {"statistic": "q"}),
    "`mmd-events`": ("mmd-events", {"embedding": "bow"}),
    "`kernel=gaussian`": ("mmd-events", {"embedding": "bow", "kernel": "gaussian"}),
}
"""METEOR is the distance, words are counted by ``bow``."""
Events = list[Event]
Style = Callable[[Events, random.Random], Events]
"""Cut of a person: events of all scenes -> events."""


def cut_coarsely(events: Events, rng: random.Random) -> Events:
    """Join most neighbours."""
    return join_events(events, 0.6, rng, [])


def cut_finely(events: Events, rng: random.Random) -> Events:
    """Divide most events."""
    return split_events(events, 0.7, rng, [])


def cut_in_bursts(events: Events, rng: random.Random) -> Events:
    """Describe two neighbouring scenes alone, and divide both."""
    first = rng.randrange(len(events) - 1)
    return split_events(events[first : first + 2], 1.0, rng, [])


def choose_some(events: Events, rng: random.Random) -> Events:
    """Describe a random number of scenes."""
    chosen = sorted(rng.sample(range(len(events)), rng.randint(1, len(events))))
    return [events[k] for k in chosen]


STYLES: Mapping[str, Style] = {
    "coarse": cut_coarsely,
    "fine": cut_finely,
    "bursts": cut_in_bursts,
    "unequal": choose_some,
}
"""Cuts of persons."""
System = Callable[[Events, random.Random, Events], Events]
"""Events of a person, generator, events of another video -> those of a system."""


def leave(events: Events, rng: random.Random, other: Events) -> Events:
    """Return the events of a person as they are."""
    return events


def disturb(name: str, grade: float) -> System:
    """Return a system that is made worse."""
    perturbation = PERTURBATIONS[name]

    def system(events: Events, rng: random.Random, other: Events) -> Events:
        return perturbation(
            events,
            grade,
            rng,
            list(itertools.islice(itertools.cycle(other), len(events))),
        )

    return system


def give_one_event(events: Events, rng: random.Random, other: Events) -> Events:
    """Return one event over everything."""
    return [Event(events[0].text, (0.0, events[-1].place[1]))]


def give_one_caption(events: Events, rng: random.Random, other: Events) -> Events:
    """Return one caption everywhere."""
    return [replace(event, text="a person is doing something") for event in events]


SYSTEMS: Mapping[str, System] = {
    "a person": leave,
    **{
        f"{name}, {grade:g}": disturb(name, grade)
        for name in PERTURBATIONS
        for grade in (0.5, 1.0)
    },
    "one event over everything": give_one_event,
    "one caption everywhere": give_one_caption,
}
"""Systems by the kind of their fault."""


def make_examples(
    system: System,
    annotators: int,
    seed: int,
    count: int = POOL,
    styles: Sequence[str] | None = None,
) -> list[CaptionSet]:
    """Return videos of a system and of so many annotators.

    ``styles`` are those of the system and the annotators in every video; None: drawn
    for every set.
    """
    rng = random.Random(seed)
    scenes = captions_by_scene()
    persons: list[list[Events]] = []
    for _ in range(count):
        own: list[Events] = [[] for _ in range(annotators + 1)]
        start = 0.0
        for scene in rng.sample(scenes, SCENES):
            end = start + rng.choice([8.0, 12.0, 20.0])
            for events, text in zip(own, rng.sample(scene, annotators + 1)):
                # persons put a border up to 1.5 seconds elsewhere
                places = (start + rng.uniform(0, 1.5), end - rng.uniform(0, 1.5))
                events.append(Event(text, places))
            start = end
        persons.append(
            [
                STYLES[rng.choice(list(STYLES)) if styles is None else styles[k]](
                    events, rng
                )
                for k, events in enumerate(own)
            ]
        )
    examples: list[CaptionSet] = []
    for number, (own, other) in enumerate(zip(persons, [persons[-1], *persons])):
        sets = [system(own[0], rng, other[0]), *own[1:]]
        texts = [EventSet(tuple(events)).to_text() for events in sets]
        examples.append(CaptionSet(f"{number}", (texts[0],), tuple(texts[1:])))
    return examples


def relabeled_values(
    metrics: Sequence[MeanMetric], examples: Sequence[CaptionSet]
) -> list[np.ndarray]:
    """Return the standardised statistics of each video under all relabelings, the
    observed one first, shape (videos, 1 + annotators) for each metric.
    """
    features = FeatureCache([item.references for item in examples])
    batch = features.batch(examples)
    labels = permutation.relabelings(batch.n, batch.m)
    values = [metric.null(batch, features, None, labels) for metric in metrics]
    return [standardise_values(value[:, :, None])[0][:, :, 0] for value in values]


def count_rejections(
    values: np.ndarray, videos: int, draws: int, seed: int, *, any_person: bool
) -> int:
    """Return the number of drawn data sets of so many videos with p of .05 or less.

    ``any_person``: any of the sets of a video is the system's, drawn anew, which is the
    null hypothesis.
    """
    rng = np.random.default_rng([seed, videos])
    pool, sets = values.shape
    hits = 0
    for _ in range(draws):
        rows = values[rng.choice(pool, videos, replace=False)]
        ranks = rng.integers(sets, size=(videos, RELABELINGS + 1))
        ranks[:, 0] = rng.integers(sets, size=videos) if any_person else 0
        sums = np.take_along_axis(rows, ranks, axis=1).sum(axis=0)
        hits += bool(rank_shares(sums[:, None])[0, 0] <= LEVEL)
    return hits


def make_metrics() -> dict[str, MeanMetric]:
    """Return the tested metrics by the name of the table."""
    return {
        label: current().create("metrics", name, dict(parameters))
        for label, (name, parameters) in METRICS.items()
    }


def power_rows(draws: int, seed: int) -> dict[str, list[list[float]]]:
    """Return system -> share of found data sets, by metric and number of videos."""
    metrics = make_metrics()
    rows: dict[str, list[list[float]]] = {}
    for name, system in SYSTEMS.items():
        columns = relabeled_values(
            list(metrics.values()), make_examples(system, 2, seed)
        )
        rows[name] = [
            [
                count_rejections(
                    values, videos, draws, seed, any_person=name == "a person"
                )
                / draws
                for videos in VIDEOS
            ]
            for values in columns
        ]
    return rows


def size_of_habits(draws: int, seed: int, videos: int = 20) -> list[float]:
    """Return the share of found data sets, by metric, where the system and both
    annotators are people who keep one way of cutting each, drawn for every data set.
    """
    metrics = list(make_metrics().values())
    habits = list(itertools.product(STYLES, repeat=3))
    hits = np.zeros(len(metrics))
    for number, styles in enumerate(habits):
        examples = make_examples(leave, 2, seed + number, 3 * videos, styles)
        for column, values in enumerate(relabeled_values(metrics, examples)):
            hits[column] += count_rejections(
                values, videos, draws, seed + number, any_person=False
            )
    return (hits / (draws * len(habits))).tolist()


def make_table(
    rows: Mapping[str, Sequence[Sequence[float]]], habits: Sequence[float]
) -> str:
    """Return the Markdown table of the page."""
    lines = [
        f"Share of the drawn data sets with p of {LEVEL:g} or less, of "
        f"{', '.join(map(str, VIDEOS))} videos with two annotators:",
        "",
        f"| system | {' | '.join(METRICS)} |",
        f"| --- |{' --- |' * len(METRICS)}",
    ]
    for name, columns in rows.items():
        cells = [" ".join(f"{share:.2f}" for share in column) for column in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    kept = " | ".join(f"– {share:.2f} –" for share in habits)
    lines.append(f"| a person, each with one way of cutting in all videos | {kept} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = power_rows(args.draws, args.seed)
    table = make_table(rows, size_of_habits(max(1, args.draws // 20), args.seed))
    print(table)
    if args.write:
        page = PAGE.read_text("utf-8")
        marks = r"(<!-- event-tests -->\n).*?(<!-- /event-tests -->)"
        page = re.sub(marks, lambda m: f"{m[1]}{table}\n{m[2]}", page, flags=re.DOTALL)
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
