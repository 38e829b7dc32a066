"""Runs of sets of events that several tests draw."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import harness
from harness.contracts import Event, EventSet
from harness.results import Run

DURATION = 10.0
WHO = ("a man runs", "a dog barks loudly", "two cats sleep")
"""Captions of the annotators, in turn."""


def times(*events: tuple[str, float, float], duration: float = DURATION) -> str:
    """Return the text of a set of events with times."""
    own = tuple(Event(text, (start, end)) for text, start, end in events)
    return EventSet(own, duration).to_text()


def run_of(
    systems: Mapping[str, Mapping[str, Sequence[str]]],
    references: Mapping[str, Sequence[str]],
    metrics: Sequence[str] = ("dense",),
) -> Run:
    """Return a run in memory of systems by label: example -> texts of their sets."""
    scores: Any = harness.score(systems, references, list(metrics))
    return scores.run


def small_run(metrics: Sequence[str] = ("dense",)) -> Run:
    """Return a run of two systems, two annotators and the videos ``v`` and ``w``."""
    references = {
        name: [
            times(("a man <runs>", 0.0, 5.0), ("a dog barks", 5.0, 9.0)),
            times(("a man runs away", 0.0, 9.0)),
        ]
        for name in ("v", "w")
    }
    good = {
        "v": [times(("a man runs", 0.0, 4.0), ("a dog barks loudly", 5.0, 9.0))],
        "w": [times(("a dog barks", 4.0, 9.0))],
    }
    empty = {
        "v": [EventSet((), missing=True).to_text()],
        "w": [times(("blue & green", 0.0, 1.0))],
    }
    return run_of({"good": good, "empty": empty}, references, metrics)


def crowded_run(events: int) -> Run:
    """Return a run of one video of many short events, one after the other."""
    own = [(f"event {k} of many", float(k), k + 0.9) for k in range(events)]
    text = times(*own, duration=float(events))
    return run_of({"s": {"v": [text]}}, {"v": [text]})


def many_videos(count: int) -> Run:
    """Return a run of videos whose system is the better the later they come."""
    references = {f"v{k:05}": [times((WHO[k % 3], 0.0, 8.0))] for k in range(count)}
    systems = {
        name: [times((WHO[k % 3], 0.0, 8.0 * (k + 1) / count))]
        for k, name in enumerate(references)
    }
    return run_of({"s": systems}, references)


def write_boxes(folder: Path, *, images: bool = True) -> Path:
    """Write images with boxes of an annotator and two systems; return the spec."""
    import yaml
    from PIL import Image, ImageDraw

    references: list[dict[str, object]] = []
    candidates: dict[str, list[dict[str, object]]] = {"first": [], "second": []}
    for k, (width, height) in enumerate(((640, 480), (480, 640))):
        house = [0.5 * width, 0.3 * height, 0.9 * width, 0.8 * height]
        window = [0.6 * width, 0.4 * height, 0.7 * width, 0.5 * height]
        dog = [0.1 * width, 0.6 * height, 0.3 * width, 0.9 * height]
        if images:
            image = Image.new("RGB", (width, height), (150, 190, 220))
            draw = ImageDraw.Draw(image)
            for box, colour in ((house, "brown"), (window, "gold"), (dog, "black")):
                draw.rectangle(box, fill=colour)
            image.save(folder / f"{k}.jpg")
        common = {"id": str(k), "image": f"{k}.jpg"}
        texts = ["a red house", "a window", "a black dog"]
        references.append(
            {**common, "references": texts, "boxes": [house, window, dog]}
        )
        near = [[value + 12 for value in box] for box in (house, dog)]
        far = [[0, 0, 0.1 * width, 0.1 * height]]
        candidates["first"].append(
            {"id": str(k), "captions": ["a house", "a dog"], "boxes": near}
        )
        candidates["second"].append(
            {"id": str(k), "captions": ["the sky"], "boxes": far}
        )
    for name, rows in {"references": references, **candidates}.items():
        lines = "\n".join(map(json.dumps, rows))
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")

    models = [
        {"predictions": {"label": name, "path": f"{name}.jsonl", "events": "sets"}}
        for name in candidates
    ]
    spec = {
        "task": "boxes",
        "dataset": {
            "reader": "auto",
            "path": "references.jsonl",
            "events": "sets",
            "media_root": str(folder),
        },
        "models": models,
        "metrics": ["dense"],
    }
    path = folder / "boxes.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    return path
