"""Runs, cancelled runs and resumed runs for a long time: files, threads,
children and memory stay flat.

    python -m benchmarks.endurance [--minutes 1] [--soak MINUTES] [--fuzz MINUTES]

First in one process: a spec is run, interrupted at a random moment as by Ctrl-C, run
again to its end, reported and removed. Then in processes of their own, one after
another, with SIGINT or SIGTERM. Printed: runs, interruptions, and open files, threads,
children and resident memory at the first quarter and at the end; processes and
temporary files left behind; runs whose numbers differ from the first. Then the attacks
of :mod:`benchmarks.hostile`: checkpoints, registries and pages that try to run code.
With ``--soak`` and ``--fuzz``, ``tools.soak.run`` and ``tools.fuzz.run`` follow for so
many minutes, and print their counts. The exit status is 1 when something grows, is left
behind, differs or runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import harness
from benchmarks import hostile

ROOT = Path(__file__).resolve().parents[1]
WARM = 30
"""Rounds before the first measurement, most of them interrupted: modules are loaded,
pools of threads exist, caches are full.
"""
MEMORY_GROWTH = 0.05
"""Largest share by which resident memory may grow from the first quarter of the rounds
to the end.
"""


@dataclass(frozen=True)
class Usage:
    """Resources that a process holds."""

    files: int
    threads: int
    children: int
    megabytes: float

    @classmethod
    def now(cls) -> Usage:
        """Return the usage of this process."""
        tasks = list(Path("/proc/self/task").iterdir())
        children = sum(len((task / "children").read_text().split()) for task in tasks)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        files = len(os.listdir("/proc/self/fd")) - 1  # without the listing itself
        return cls(
            files, len(tasks), children, pages * os.sysconf("SC_PAGESIZE") / 2**20
        )


def write_project(folder: Path) -> Path:
    """Write a small data set and its spec; return the path of the spec."""
    generator = random.Random(0)
    words = [
        "a",
        "the",
        "dog",
        "cat",
        "man",
        "runs",
        "sits",
        "near",
        "on",
        "red",
        "beach",
        "table",
        "street",
        "two",
    ]
    texts = [
        [" ".join(generator.choices(words, k=7)) for _ in range(4)] for _ in range(12)
    ]

    records = [{"id": str(i), "references": item[:3]} for i, item in enumerate(texts)]
    (folder / "data.jsonl").write_text(
        "".join(json.dumps(record) + "\n" for record in records), encoding="utf-8"
    )

    spec = {
        "task": "endurance",
        "dataset": {"reader": "jsonl", "path": "data.jsonl"},
        "models": ["human", "shuffled"],
        "metrics": [
            "bleu",
            "rouge",
            "cider",
            {"trm": {"distance": "rouge"}},
            {"mmd": {"embedding": "bow"}},
        ],
        "significance": {"method": "monte-carlo", "draws": 200},
        "bootstrap": {"samples": 200},
        "views": [{"plot": "table"}],
    }
    (folder / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    return folder / "spec.yaml"


def numbers(out: Path) -> list[dict[str, object]]:
    """Return the results of a run without their times."""
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))["results"]
    return [
        {name: value for name, value in record.items() if name != "seconds"}
        for record in results
    ]


def interrupted(spec: Path, out: Path, after: float) -> bool:
    """Run a spec and interrupt it after so many seconds;
    return True when it was interrupted.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        harness.evaluate(spec, output=out)
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


def one_process(spec: Path, folder: Path, minutes: float) -> int:
    """Run, interrupt, resume and report in this process;
    print the usage and return the number of problems.
    """
    generator = random.Random(1)
    usages = list[Usage]()

    harness.evaluate(spec, output=folder / "first")
    started = time.perf_counter()
    harness.evaluate(spec, output=folder / "second")  # without the loading of modules
    duration = time.perf_counter() - started

    expected = numbers(folder / "first")
    cancelled = different = rounds = 0
    until = time.perf_counter() + 60 * minutes
    while time.perf_counter() < until or rounds < 2 * WARM:
        out = folder / "run"
        cancelled += interrupted(spec, out, generator.uniform(0.001, duration))
        harness.evaluate(spec, output=out)
        different += numbers(out) != expected
        harness.report(out, output=folder / "page.html")
        shutil.rmtree(out)
        rounds += 1
        if rounds >= WARM:
            usages.append(Usage.now())

    first, last = usages[len(usages) // 4], usages[-1]
    print(
        f"one process: {rounds} runs, {cancelled} interrupted and resumed, "
        f"{different} with other numbers"
    )

    grown = 0
    for name, before in asdict(first).items():
        after = asdict(last)[name]
        grows = (
            after > before * (1 + MEMORY_GROWTH)
            if name == "megabytes"
            else after > before
        )
        print(
            f"  {name:<10} {before:>8.0f} -> {after:>8.0f}{'  grows' if grows else ''}"
        )
        grown += grows
    return different + grown


def many_processes(spec: Path, folder: Path, minutes: float) -> int:
    """Run, interrupt and resume in processes of their own;
    return the number of problems.
    """
    generator = random.Random(2)
    out = folder / "many"
    command = [
        sys.executable,
        "-m",
        "harness.cli.main",
        "run",
        str(spec),
        "--output",
        str(out),
    ]

    expected = numbers(folder / "first")
    counts = {"runs": 0, "interrupted": 0, "different": 0, "left": 0, "refused": 0}
    until = time.perf_counter() + 60 * minutes
    while time.perf_counter() < until or not counts["runs"]:
        with subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                process.wait(generator.uniform(0.3, 4.0))
            except subprocess.TimeoutExpired:
                process.send_signal(generator.choice((signal.SIGINT, signal.SIGTERM)))
            counts["interrupted"] += process.wait() != 0
        counts["left"] += _session_lives(process.pid)

        done = subprocess.run(command, capture_output=True)
        counts["runs"] += 1
        counts["refused"] += done.returncode != 0
        if done.returncode == 0:
            counts["different"] += numbers(out) != expected
            counts["left"] += sum(
                1
                for file in out.rglob("*")
                if file.suffix == ".tmp" or file.name == ".lock"
            )
        shutil.rmtree(out, ignore_errors=True)

    print(
        f"many processes: {counts['runs']} runs, {counts['interrupted']} interrupted "
        f"and resumed, {counts['different']} with other"
        f" numbers, {counts['refused']} refused, {counts['left']} processes or files "
        "left behind"
    )
    return counts["different"] + counts["left"] + counts["refused"]


def _session_lives(session: int) -> bool:
    """Return True when a process of a session that has ended is still there."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> int:
    """Run both parts and the attacks, then the soak test and the fuzzer where asked;
    return 1 when there are problems.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=1.0, help="minutes of each of the two parts"
    )
    parser.add_argument("--soak", type=float, default=0.0, metavar="MINUTES")
    parser.add_argument("--fuzz", type=float, default=0.0, metavar="MINUTES")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = write_project(folder)
        problems = one_process(spec, folder, args.minutes) + many_processes(
            spec, folder, args.minutes
        )
    problems += hostile.main()
    for program, minutes in (("soak", args.soak), ("fuzz", args.fuzz)):
        if minutes:
            command = [
                sys.executable,
                "-m",
                f"tools.{program}.run",
                "--minutes",
                str(minutes),
            ]
            print(f"{program}, {minutes:g} minutes", flush=True)
            problems += subprocess.run(command, cwd=ROOT).returncode
    print(f"{problems} problems")
    return int(problems > 0)


if __name__ == "__main__":
    sys.exit(main())
