"""CPU time and memory of ``harness score`` as a process: two captions, and the first
default call on a machine.

    python -m benchmarks.sections.first_score

The first default call has an empty cache folder: METEOR's lexicon is built in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks import captions

ROUNDS = 5
GOAL_SECONDS = 0.7
GOAL_MEGABYTES = 160
GOAL_FIRST = 4.0
METRICS = "cider,bleu,rouge"
PROGRAM = """
import resource, sys
from harness.cli.main import main

code = main(sys.argv[1:])
own = resource.getrusage(resource.RUSAGE_SELF)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
# Imported now, so that it costs no seconds.
from benchmarks.timing import peak_memory

memory = max(peak_memory() * 1024, children.ru_maxrss / 1024)
print("COST", seconds, memory)
sys.exit(code)
"""
"""Runs the command line, then prints CPU seconds and the peak memory in MB."""


class Cost(NamedTuple):
    """Cost of one process and its children."""

    seconds: float
    """CPU seconds."""
    megabytes: float
    """Peak memory of the largest process."""


def measure(arguments: list[str], folder: Path) -> Cost:
    """Return the cost of one call of the command line with a cache in ``folder``."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=captions.ROOT,
        env={**os.environ, "HARNESS_CACHE": str(folder)},
    )
    if done.returncode:
        raise SystemExit(
            f"harness {' '.join(arguments)} failed:\n{done.stderr[-2000:]}"
        )
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("COST "))
    return Cost(*map(float, line.split()[1:]))


def report() -> bool:
    """Print the table; return True when the goals are met."""
    with tempfile.TemporaryDirectory(prefix="first-score-") as name:
        folder = Path(name)
        (folder / "a.json").write_text(
            json.dumps({"1": "a dog runs", "2": "a cat sat"}), encoding="utf-8"
        )
        (folder / "r.json").write_text(
            json.dumps({"1": ["a dog runs fast"], "2": ["the cat sat"]}),
            encoding="utf-8",
        )

        files = [
            "score",
            str(folder / "a.json"),
            "--references",
            str(folder / "r.json"),
        ]

        first = measure(files, folder / "cache")
        two = [
            measure([*files, "-m", METRICS], folder / "cache") for _ in range(ROUNDS)
        ]

    best = Cost(min(cost.seconds for cost in two), min(cost.megabytes for cost in two))
    print(
        f"\nharness score as a process (load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores)"
    )
    print(
        f"  2 captions, {METRICS}: {best.seconds:.2f} CPU s, "
        f"{best.megabytes:.0f} MB (best of {ROUNDS})"
    )
    print(
        f"  first default call, empty cache: {first.seconds:.2f} CPU s, "
        f"{first.megabytes:.0f} MB"
    )

    goals = {
        f"at most {GOAL_SECONDS} CPU s": best.seconds <= GOAL_SECONDS,
        f"at most {GOAL_MEGABYTES} MB": best.megabytes <= GOAL_MEGABYTES,
        f"first call at most {GOAL_FIRST} CPU s": first.seconds <= GOAL_FIRST,
    }
    for goal, met in goals.items():
        print(f"  goal: {goal}: {'met' if met else 'MISSED'}")
    return all(goals.values())


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
