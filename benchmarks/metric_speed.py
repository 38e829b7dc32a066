"""Captions per second of processor time of the metrics of single captions, one metric
alone, for the page of metrics of the gallery.

    python -m benchmarks.metric_speed [--captions 5000] [--metrics NAME ...] [--write]

Captions are those of the shipped sample with a number behind each, so that none occurs
twice, with two references. A metric is created and used once before it is timed.
Processor time, in place of time on the clock, does not depend on what else the machine
does. With ``--write`` the result is ``harness/judgments/metric_speed.json``, with the
machine; times of two machines do not compare.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "harness" / "judgments" / "metric_speed.json"


def measure(name: str, count: int) -> float:
    """Return the captions per second of processor time of a metric."""
    sample = json.loads(
        (ROOT / "tasks" / "harness_tasks" / "sample" / "captions.json").read_text(
            encoding="utf-8"
        )
    )
    texts = [row["caption"] for row in sample["annotations"]]
    captions = [[f"{texts[k % len(texts)]} {k}"] for k in range(count)]
    references = [
        [texts[(k + 1) % len(texts)], texts[(k + 2) % len(texts)]] for k in range(count)
    ]
    harness.score(captions[:8], references[:8], metrics=[name], bootstrap=0)
    started = time.process_time()
    harness.score(captions, references, metrics=[name], bootstrap=0)
    return count / (time.process_time() - started)


def main() -> int:
    """Print the speeds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--captions", type=int, default=5000)
    parser.add_argument(
        "--metrics",
        nargs="*",
        default=["bleu1", "bleu4", "rouge", "meteor", "cider", "chrf", "ter"],
    )
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    speeds = {
        name: float(f"{measure(name, args.captions):.2g}") for name in args.metrics
    }
    for name, speed in speeds.items():
        print(f"{name:<20}{speed:>10,.0f} captions/s")
    if args.write:
        machine = (
            f"processor time, {platform.machine()}, Python {platform.python_version()}"
        )
        content = {
            "command": "python -m benchmarks.metric_speed --write",
            "captions": args.captions,
            "machine": machine,
            "speeds": speeds,
        }
        RESULT.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
