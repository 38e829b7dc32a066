"""METEOR for all pairs of COCO captions: pairs per second beside the pipelined jar's, in the same run; start-up and memory.

    python benchmarks/sections/meteor_speed.py [EXAMPLES]

Ten sampled candidates and five references an image, 225 ordered pairs. The jar runs warm, its start not counted, requests written
ahead of its answers; the two take turns of about a second, so that other work on the machine weighs on both, and the processor
time a pair is told beside the wall time. Ours is timed from raw text to matrices (normalising and looking up words included) and
for the matrices alone. A child process measures memory and start-up with warm caches.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import coco_data

GOAL, AIM, MEMORY = 25, 50, 600
JAR_PAIRS, ROUNDS = 40_000, 20


def report(shared: Path, n_examples: int = 5000) -> bool:
    """Print the table; True when the goals are met."""
    examples = _examples(shared)[:n_examples]
    print(f"\nMETEOR, all pairs of {len(examples):,} x 15 COCO captions ({225 * len(examples):,} ordered pairs)")
    sample = _sample(examples, JAR_PAIRS)
    child = _child(shared, len(examples))
    from harness.plugins.meteor import engine as meteor
    from harness.plugins.meteor.java import JavaMeteor

    meteor.matrix(["a dog runs", "the dog is running"])
    with JavaMeteor() as jar:
        jar.statistics(sample[:4000])  # its just-in-time compiler
        theirs, seconds, cpu = _race(jar, sample, examples)
    same = bool((meteor.statistics(sample) == theirs).all())
    n_pairs = 225 * len(examples)
    rate, whole, alone = JAR_PAIRS / seconds[0], n_pairs / (seconds[1] + seconds[2]), n_pairs / seconds[2]
    print(f"  {'':<26} {'pairs/s':>10} {'ratio':>7} {'processor us/pair':>19}")
    jar_cpu, own_cpu = cpu[0] / JAR_PAIRS * 1e6, cpu[2] / n_pairs * 1e6
    print(f"  {'jar, pipelined':<26} {rate:>10,.0f} {1:>6.0f}x {jar_cpu:>19.1f}")
    print(
        f"  {'ours, from raw text':<26} {whole:>10,.0f} {whole / rate:>6.0f}x {own_cpu + cpu[1] / n_pairs * 1e6:>19.1f}"
    )
    print(f"  {'ours, matrices alone':<26} {alone:>10,.0f} {alone / rate:>6.0f}x {own_cpu:>19.1f}")
    print(
        f"  load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; statistics equal: {same}; peak memory {child['memory']:.0f} MB"
    )
    print(f"  start with warm caches: lexicon {child['lexicon']:.2f} s, kernels {child['kernels']:.2f} s")
    good = whole / rate >= GOAL and child["memory"] < MEMORY and same
    print(f"  goals: at least {GOAL}x (aim {AIM}x), below {MEMORY} MB: {'met' if good else 'MISSED'}")
    return good


def _race(jar, sample, examples):
    """(statistics by the jar, wall seconds, processor seconds) of jar, preparation and matrices, in turns of a second or so."""
    from harness.plugins.meteor import engine as meteor

    table, theirs = meteor.new_table(), []
    seconds, cpu = np.zeros(3), np.zeros(3)
    for turn in range(ROUNDS):
        asked = sample[turn * len(sample) // ROUNDS : (turn + 1) * len(sample) // ROUNDS]
        texts = examples[turn * len(examples) // ROUNDS : (turn + 1) * len(examples) // ROUNDS]
        clock = [(time.perf_counter(), time.process_time(), _cpu(jar._process.pid))]
        theirs.append(jar.statistics(asked))
        clock.append((time.perf_counter(), time.process_time(), _cpu(jar._process.pid)))
        ids = table.intern(text for row in texts for text in row).reshape(-1, 15)
        clock.append((time.perf_counter(), time.process_time(), 0.0))
        meteor.matrices(table, ids)
        clock.append((time.perf_counter(), time.process_time(), 0.0))
        times = np.diff(np.array(clock), axis=0)
        seconds += times[:, 0]
        cpu += [times[0, 2], times[1, 1], times[2, 1]]
    return np.concatenate(theirs), seconds, cpu


def _examples(shared: Path) -> list[list[str]]:
    candidates, references = coco_data.ten_candidates(shared), coco_data.references(shared)
    return [[*one, *other] for one, other in zip(candidates, references)]


def _sample(examples: list[list[str]], size: int) -> list[tuple[str, list[str]]]:
    """Pairs as they stand in the matrices: two texts of one image."""
    rng = np.random.default_rng(7)
    rows = rng.integers(len(examples), size=size)
    places = rng.integers(15, size=(size, 2))
    return [(examples[row][i], [examples[row][j]]) for row, (i, j) in zip(rows, places)]


def _cpu(pid: int) -> float:
    """Seconds of processor time that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _child(shared: Path, n_examples: int) -> dict[str, float]:
    """What a fresh process measures of itself; run once before, so that caches are warm."""
    command = [sys.executable, __file__, "child", str(shared), str(n_examples)]
    subprocess.run([*command[:-1], "8"], check=True, capture_output=True)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _measure(shared: Path, n_examples: int) -> dict[str, float]:
    from harness.plugins.compiled.chunks import n_threads
    from harness.plugins.meteor import engine as meteor
    from harness.plugins.meteor.lexicon.disk_cache import installed_lexicon

    lexicon, _ = _timed(installed_lexicon)
    kernels, _ = _timed(lambda: meteor.matrix(["a dog runs", "the dog is running"]))
    examples = _examples(shared)[:n_examples]
    table = meteor.new_table()
    prepare, ids = _timed(lambda: table.intern(text for texts in examples for text in texts).reshape(-1, 15))
    before = time.process_time()
    matrices, _ = _timed(lambda: meteor.matrices(table, ids))
    return {
        "lexicon": lexicon,
        "kernels": kernels,
        "prepare": prepare,
        "matrices": matrices,
        "cpu": time.process_time() - before,
        "cores": n_threads(),
        "memory": _peak(),
    }


def _peak() -> float:
    """Most resident memory of this process, MB. On Linux ``ru_maxrss`` also holds that of the process it was started from."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1]) / 1024  # type: ignore[index]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(_measure(Path(sys.argv[2]), int(sys.argv[3]))))
        sys.exit(0)
    sys.exit(0 if report(coco_data.shared_folder(), *map(int, sys.argv[1:])) else 1)
