"""METEOR for all pairs of COCO captions: pairs per second beside the pipelined jar, in
one run; start-up time and memory.

    python -m benchmarks.sections.meteor_speed [EXAMPLES]

Ten sampled candidates and five references per image: 225 ordered pairs. The start of
the jar is not counted, and requests are written ahead of its answers. Both programs
take turns of about a second, so that other load affects both; processor time per pair
is printed beside wall time. The harness is timed from raw text to matrices
(normalisation and look-up included) and for the matrices alone. A child process
measures memory and start-up time with warm caches.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import captions
from benchmarks.timing import peak_memory, timed

if TYPE_CHECKING:
    from caption_kernels.batches.meteor import Pair
    from harness_metrics.meteor.java import JavaMeteor

GOAL = 100
MEMORY = 600
JAR_PAIRS = 40_000
ROUNDS = 20


def report(n_examples: int = 5000) -> bool:
    """Print the table; return True when the goals are met."""
    examples = _examples()[:n_examples]
    print(
        f"\nMETEOR, all pairs of {len(examples):,} x 15 COCO captions "
        f"({225 * len(examples):,} ordered pairs)"
    )

    sample = _sample(examples, JAR_PAIRS)
    child = _child(len(examples))
    from harness_metrics.meteor import engine as meteor
    from harness_metrics.meteor.java import JavaMeteor

    meteor.matrix(["a dog runs", "the dog is running"])
    with JavaMeteor() as jar:
        jar.statistics(sample[:4000])  # its just-in-time compiler
        theirs, seconds, cpu = _race(jar, sample, examples)

    same = bool((meteor.statistics(sample) == theirs).all())
    n_pairs = 225 * len(examples)
    rate = JAR_PAIRS / seconds[0]
    whole = n_pairs / (seconds[1] + seconds[2])
    alone = n_pairs / seconds[2]

    print(f"  {'':<26} {'pairs/s':>10} {'ratio':>7} {'processor us/pair':>19}")
    jar_cpu = cpu[0] / JAR_PAIRS * 1e6
    matrix_cpu = cpu[2] / n_pairs * 1e6
    print(f"  {'jar, pipelined':<26} {rate:>10,.0f} {1:>6.0f}x {jar_cpu:>19.1f}")
    text_cpu = matrix_cpu + cpu[1] / n_pairs * 1e6
    print(
        f"  {'harness, from raw text':<26} {whole:>10,.0f} {whole / rate:>6.0f}x "
        f"{text_cpu:>19.1f}"
    )
    print(
        f"  {'harness, matrices only':<26} {alone:>10,.0f} {alone / rate:>6.0f}x "
        f"{matrix_cpu:>19.1f}"
    )

    print(
        f"  load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; "
        f"statistics equal: {same}"
    )
    print(f"  peak memory {child['memory']:.0f} MB")
    print(
        f"  start-up with warm caches: lexicon {child['lexicon']:.2f} s, "
        f"kernels {child['kernels']:.2f} s"
    )

    good = whole / rate >= GOAL and child["memory"] < MEMORY and same
    print(
        f"  goals: at least {GOAL}x, below {MEMORY} MB: {'met' if good else 'MISSED'}"
    )
    return good


def _race(
    jar: JavaMeteor, sample: Sequence[Pair], examples: Sequence[Sequence[str]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the statistics of the jar, and wall and processor seconds (3,) of jar,
    preparation and matrices.
    """
    from harness_metrics.meteor import engine as meteor

    table = meteor.new_table()
    theirs = []
    seconds = np.zeros(3)
    cpu = np.zeros(3)
    for turn in range(ROUNDS):
        pairs = sample[
            turn * len(sample) // ROUNDS : (turn + 1) * len(sample) // ROUNDS
        ]
        texts = examples[
            turn * len(examples) // ROUNDS : (turn + 1) * len(examples) // ROUNDS
        ]
        clock = [(time.perf_counter(), time.process_time(), _cpu(jar._process.pid))]
        theirs.append(jar.statistics(pairs))
        clock.append((time.perf_counter(), time.process_time(), _cpu(jar._process.pid)))
        ids = table.intern([text for row in texts for text in row]).reshape(-1, 15)
        clock.append((time.perf_counter(), time.process_time(), 0.0))
        meteor.matrices(table, ids)
        clock.append((time.perf_counter(), time.process_time(), 0.0))
        times = np.diff(np.array(clock), axis=0)
        seconds += times[:, 0]
        cpu += [times[0, 2], times[1, 1], times[2, 1]]
    return np.concatenate(theirs), seconds, cpu


def _examples() -> list[list[str]]:
    """Return the 15 texts of each image, candidates first."""
    return [
        [*one, *other]
        for one, other in zip(captions.sampled_candidates(), captions.references())
    ]


def _sample(examples: list[list[str]], size: int) -> list[tuple[str, list[str]]]:
    """Return ``size`` random pairs, each of two texts of one image."""
    rng = np.random.default_rng(7)
    rows = rng.integers(len(examples), size=size)
    places = rng.integers(15, size=(size, 2))
    return [(examples[row][i], [examples[row][j]]) for row, (i, j) in zip(rows, places)]


def _cpu(pid: int) -> float:
    """Return the seconds of processor time of a process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _child(n_examples: int) -> dict[str, float]:
    """Return the measurements of a new process; a first one fills the caches."""
    command = [sys.executable, "-m", "benchmarks.sections.meteor_speed", "child"]
    subprocess.run([*command, "8"], check=True, capture_output=True, cwd=captions.ROOT)
    child = subprocess.run(
        [*command, str(n_examples)],
        check=True,
        capture_output=True,
        text=True,
        cwd=captions.ROOT,
    )
    return json.loads(child.stdout.splitlines()[-1])


def _measure(n_examples: int) -> dict[str, float]:
    """Return seconds of loading and computing, and peak memory in MB."""
    from caption_kernels.batches.threads import n_threads
    from harness_metrics.meteor import engine as meteor
    from harness_metrics.meteor.installed import lexicon as installed_lexicon

    lexicon, _ = timed(installed_lexicon)
    kernels, _ = timed(lambda: meteor.matrix(["a dog runs", "the dog is running"]))
    examples = _examples()[:n_examples]
    table = meteor.new_table()
    prepare, ids = timed(
        lambda: table.intern([text for texts in examples for text in texts]).reshape(
            -1, 15
        )
    )
    before = time.process_time()
    matrices, _ = timed(lambda: meteor.matrices(table, ids))
    return {
        "lexicon": lexicon,
        "kernels": kernels,
        "prepare": prepare,
        "matrices": matrices,
        "cpu": time.process_time() - before,
        "cores": n_threads(),
        "memory": peak_memory() * 1024,
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(_measure(int(sys.argv[2]))))
        sys.exit(0)
    sys.exit(0 if report(*map(int, sys.argv[1:])) else 1)
