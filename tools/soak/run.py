"""Soak test of runs: ``python -m tools.soak.run --minutes 10``, or ``make soak MINUTES=10``.

Runs of small specs (:mod:`cases`) are killed, terminated, starved of disk, descriptors and memory, run two at a time, and their files torn.
After each of these the same command runs again, undisturbed. Its directory must then equal that of a run that nothing disturbed, byte
for byte apart from times. Everything else is a problem: wrong (other numbers), lost (no results), refused (the second run ends
with an error), traceback.

One process per core works through the scenarios, each for its share of the time; SIGTERM ends the test early, with its counts. The
exit status is 1 when there is a problem.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.soak.processes import Tally
from tools.soak.scenarios import SCENARIOS
from tools.soak.workshop import Workshop, print_summary

SHARES = {"crash-points": 8.0, "random-kills": 6.0, "fresh-crashes": 2.0, "torn-caches": 2.0}
"""Shares of the time; 1 for the other scenarios."""
LOADED = (
    "numpy",
    "scipy.stats",
    "pyarrow.parquet",
    "rich.table",
    "harness.api",
    "harness.cli.run",
    "harness.cli.report",
)


def work(args: argparse.Namespace, worker: int) -> dict[str, Tally]:
    """Run scenarios until the time is over, or each of them ``rounds`` times; return their counts."""
    for name in LOADED:
        importlib.import_module(name)
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    began = time.monotonic()
    used = dict.fromkeys(args.scenarios, 0.0)
    turns = dict.fromkeys(args.scenarios, 0)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        shop = Workshop(Path(folder), args.seed, args.specs, part=(worker, args.workers))
        running = {name: SCENARIOS[name](shop) for name in args.scenarios}
        while running and not stopped and (args.rounds or time.monotonic() < began + 60 * args.minutes):
            name = min(running, key=lambda n: turns[n] if args.rounds else used[n] / SHARES.get(n, 1.0))
            started = time.monotonic()
            ended = next(running[name], None) is None  # every point of it has had its turn
            used[name] += time.monotonic() - started
            turns[name] += 1
            if ended or turns[name] == args.rounds:
                del running[name]
    return shop.tallies


def _ends(workers: list[subprocess.Popen[bytes]]) -> list[int]:
    """Return the exit statuses of the workers; SIGTERM and Ctrl-C let them end after their present run."""

    def stop(number: int, frame: object) -> None:
        for process in workers:
            process.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return [process.wait() for process in workers]


def main() -> int:
    """Start the workers and print their counts; return 1 when there are problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=0, help="turns of every scenario, in place of a time")
    parser.add_argument("--scenarios", nargs="*", default=list(SCENARIOS), choices=list(SCENARIOS))
    parser.add_argument("--specs", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_007)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--counts", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if args.worker is not None:
        args.counts.write_text(json.dumps({name: vars(tally) for name, tally in work(args, args.worker).items()}))
        return 0
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(k)) for k in range(args.workers)]
        options = [*sys.argv[1:], "--seed", str(args.seed), "--workers", str(args.workers)]
        commands = [
            [sys.executable, "-m", "tools.soak.run", *options, "--worker", str(k), "--counts", str(file)] for k, file in enumerate(files)
        ]
        workers = [subprocess.Popen(command, start_new_session=True) for command in commands]
        codes = _ends(workers)
        if any(codes):
            return 1
        total: dict[str, Tally] = {name: Tally() for name in args.scenarios}
        for file in files:
            for name, counts in json.loads(file.read_text()).items():
                total[name].add(Tally(**counts))
    return print_summary(total)


if __name__ == "__main__":
    sys.exit(main())
