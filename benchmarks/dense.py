"""Time of dense captioning scores beside pycocoevalcap and Java, called as the scripts
of the field call them: a tokeniser and a METEOR process for each video and threshold.

    python -m benchmarks.dense [--videos 4917] [--predictions 20] [--peer FOLDER]

Predictions are made up, of as many videos as the validation set of ActivityNet Captions
has. The peer, an installed copy of pycocoevalcap in FOLDER, scores --peer-videos of
them, and its time is scaled.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WORDS = [
    "a",
    "man",
    "woman",
    "two",
    "people",
    "dog",
    "child",
    "team",
    "player",
    "girl",
    "boy",
    "is",
    "are",
    "walks",
    "runs",
    "plays",
    "holds",
    "shows",
    "sits",
    "stands",
    "talks",
    "cuts",
    "throws",
    "puts",
    "the",
    "his",
    "her",
    "their",
    "in",
    "on",
    "with",
    "into",
    "of",
    "ball",
    "board",
    "water",
    "street",
    "room",
    "field",
    "table",
    "kitchen",
    "car",
    "horse",
    "guitar",
    "camera",
    "snow",
    "red",
    "blue",
    "large",
    "small",
    "then",
    "slowly",
    "quickly",
    "again",
    "while",
    "and",
    "to",
    "from",
    "around",
]
Events = list[dict[str, Any]]


def make_events(rng: random.Random, count: int) -> Events:
    """Return events of a video of 120 seconds."""
    events: Events = []
    for _ in range(count):
        start = rng.uniform(0, 100)
        end = start + rng.uniform(2, 60)
        words = rng.choices(WORDS, k=rng.randint(6, 18))
        time_span = [start, min(end, 120.0)]
        events.append({"timestamp": time_span, "sentence": " ".join(words)})
    return events


def make_files(folder: Path, videos: int, predictions: int) -> list[Path]:
    """Write a file of predictions and two of references."""
    rng = random.Random(0)
    names = [f"v_{number:05d}" for number in range(videos)]
    results = {name: make_events(rng, predictions) for name in names}
    paths = [folder / "predictions.json"]
    paths[0].write_text(json.dumps({"version": "1", "results": results}))
    for annotator in (1, 2):
        truth = {}
        for name in names:
            events = make_events(rng, rng.randint(2, 6))
            truth[name] = {
                "duration": 120.0,
                "timestamps": [event["timestamp"] for event in events],
                "sentences": [event["sentence"] for event in events],
            }
        paths.append(folder / f"references_{annotator}.json")
        paths[-1].write_text(json.dumps(truth))
    return paths


def cpu_seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call with its child processes, and its result."""

    def spent() -> float:
        own, children = (
            resource.getrusage(who)
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    before = spent()
    result = run()
    return spent() - before, result


def run_harness(paths: Sequence[Path], text: str) -> float:
    """Return the number of the protocol activitynet-2018, by the command line."""
    prediction, *references = map(str, paths)
    command = [sys.executable, "-m", "harness", "score", prediction, "--json"]
    for path in references:
        command += ["--references", path]
    command += ["-m", f"dense:protocol=activitynet-2018,text={text}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["results"][0]["value"]


def run_peer(paths: Sequence[Path], folder: str) -> float:
    """Return the number of pycocoevalcap with Java, in a process of its own."""
    script = Path(__file__).parent / "sections" / "peers" / "peer_dense.py"
    done = subprocess.run(
        [sys.executable, str(script), *map(str, paths)],
        env={**os.environ, "PYTHONPATH": folder},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print the CPU seconds of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=4917)
    parser.add_argument("--predictions", type=int, default=20)
    parser.add_argument("--text", default="meteor")
    parser.add_argument("--peer", metavar="FOLDER", help="folder of pycocoevalcap")
    parser.add_argument("--peer-videos", type=int, default=20)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        paths = make_files(Path(folder), args.videos, args.predictions)
        began = time.perf_counter()
        seconds, value = cpu_seconds(lambda: run_harness(paths, args.text))
        wall = time.perf_counter() - began
        print(
            f"harness: {args.videos:,} videos x {args.predictions} predictions x "
            f"2 annotators, {args.text} {value:.6f}: {seconds:.1f} CPU s, "
            f"{wall:.1f} s, {os.cpu_count()} cores"
        )
        if not args.peer:
            print("peer: not measured (--peer FOLDER of pycocoevalcap)")
            return

        few = make_files(Path(folder), args.peer_videos, args.predictions)
        peer_seconds, peer_value = cpu_seconds(lambda: run_peer(few, args.peer))
        own = run_harness(few, "meteor")
        scaled = peer_seconds * args.videos / args.peer_videos
        print(
            f"peer: {args.peer_videos} videos, METEOR {peer_value:.6f} "
            f"(harness {own:.6f}): {peer_seconds:.1f} CPU s, "
            f"{scaled:,.0f} s for {args.videos:,} videos"
        )
        print(f"ratio of CPU seconds: {scaled / seconds:.0f}")


if __name__ == "__main__":
    main()
