"""Fuzz the harness: ``python -m tools.fuzz.run --minutes 10``, or
``make fuzz MINUTES=10``.

One process per core works through the targets in turn. An input may take 5 CPU seconds,
and 1 GB of memory beyond the start of its process. What ends in anything but success or
one line of :class:`HarnessError` is a finding: its input is written to
``.fuzz/TARGET/``, one per place in the code. Fixed findings move to
``tests/fuzz/findings/TARGET/``, where ``test_findings.py`` reads them in every test
run.

Inputs are drawn by hypothesis and varied (:mod:`variation`); a batch of caption sets
counts as so many inputs. A tenth of the time goes to coverage-guided inputs of atheris
(:mod:`guided`) where it is installed (extra ``fuzz``). The exit status is 1 when there
is a finding, or a target had fewer than 30 inputs a minute.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tools.fuzz.fuzz_targets import TARGETS
from tools.fuzz.guided import GUIDED, guide
from tools.fuzz.worker import cpu_seconds, keep, read_current, work

STUCK = 120
"""CPU seconds without a new input after which a process counts as stuck in compiled
code.
"""
OUT = Path(".fuzz")
LEAST = 30
"""Inputs a minute of every target below which the fuzzer says nothing."""


def fuzz(
    args: argparse.Namespace, until: float, out: Path, scratch: Path
) -> collections.Counter[str]:
    """Run the workers until a time, restart those that die, and return the counts."""
    context = multiprocessing.get_context("fork")
    lock = context.Lock()
    slots: list[dict[str, Any]] = []

    def start(k: int, generation: int) -> dict[str, Any]:
        current = scratch / f"input{k}.{generation}"
        counts = scratch / f"counts{k}.{generation}"
        number = args.seed + k * 1_000_003 + generation * 7_000_003
        process = context.Process(
            target=work, args=(args.targets, number, until, current, counts, lock, out)
        )
        process.start()
        return {
            "process": process,
            "current": current,
            "generation": generation,
            "seen": 0,
            "since": 0.0,
        }

    slots = [start(k, 0) for k in range(args.workers)]
    died = 0
    while any(slot["process"].is_alive() for slot in slots):
        time.sleep(1)
        for k, slot in enumerate(slots):
            process = slot["process"]
            number, name, data = read_current(slot["current"])
            used = cpu_seconds(process.pid)
            if number != slot["seen"]:
                slot["seen"], slot["since"] = number, used
            stuck = process.is_alive() and number > 0 and used - slot["since"] > STUCK
            if stuck:
                process.kill()
                process.join()
            if not stuck and (process.is_alive() or not process.exitcode):
                continue
            if not number:
                raise SystemExit(
                    f"a worker ended with {process.exitcode} before its first input"
                )
            why = (
                f"no end within {STUCK} CPU s, in compiled code"
                if stuck
                else f"the process ended with {process.exitcode}"
            )
            keep(out, name, data, f"{why} {hashlib.sha256(data).hexdigest()[:8]}")
            died += 1
            if time.time() < until:
                slots[k] = start(k, slot["generation"] + 1)
    total: collections.Counter[str] = collections.Counter({"- died": died})
    for file in scratch.glob("counts*"):
        add_counts(total, file)
    return total


def add_counts(total: collections.Counter[str], file: Path) -> None:
    """Add the counts of a process."""
    for line in file.read_text().splitlines():
        key, _, count = line.rpartition(" ")
        total[key] += int(count)


def main() -> int:
    """Run the workers; return 1 when there are findings,
    or a target had too few inputs.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument(
        "--targets", nargs="*", default=list(TARGETS), choices=list(TARGETS)
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_007)
    parser.add_argument(
        "--guided",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="share of the time for atheris",
    )
    args = parser.parse_args()

    out = OUT.resolve()
    began = time.time()
    total: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        names = [name for name in args.targets if name in GUIDED]
        total.update(
            guide(
                names,
                60 * args.minutes * args.guided,
                args.workers,
                args.seed,
                out,
                Path(folder),
            )
        )
        total.update(fuzz(args, began + 60 * args.minutes, out, Path(folder)))

    return summary(
        args.targets, total, time.time() - began, out, round(LEAST * args.minutes)
    )


def summary(
    names: list[str],
    total: collections.Counter[str],
    seconds: float,
    out: Path,
    least: int,
) -> int:
    """Print a line per target and return 1 when there are findings, or a target had
    fewer inputs than ``least``.
    """
    print(
        f"{'target':<18} {'inputs':>9} {'accepted':>9} {'refused':>9} {'findings':>9}"
    )

    scored = every = 0
    for name in names:
        row = [total[f"{name} {end}"] for end in ("accepted", "refused", "finding")]
        scored += row[0] if TARGETS[name].scores else 0
        every += sum(row)
        print(f"{name:<18} {sum(row):>9,} {row[0]:>9,} {row[1]:>9,} {row[2]:>9,}")

    found = sum(1 for file in out.rglob("*.txt")) if out.is_dir() else 0
    slow, memory, died = (total[f"- {key}"] for key in ("slow", "memory", "died"))
    other = sum(total[f"{name} finding"] for name in names) - slow - memory
    used = sum(
        sum(resource.getrusage(who)[:2])
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )

    print(
        f"{every:,} inputs in {seconds / 60:.1f} minutes, "
        f"{every / used:,.0f} per CPU second, {scored:,} of them reached a metric:"
        f" {other} tracebacks, {slow} beyond 5 s, {memory} beyond 1 GB, "
        f"{died} ends of a process; {found} findings in {out}"
    )

    # A target that reads too little is one that does not start, or refuses everything.
    idle = [
        name
        for name in names
        if sum(total[f"{name} {end}"] for end in ("accepted", "refused", "finding"))
        < least
    ]

    if idle:
        print(f"too little was done: fewer than {least} inputs of {', '.join(idle)}")
    return 1 if found or died or idle else 0


if __name__ == "__main__":
    sys.exit(main())
