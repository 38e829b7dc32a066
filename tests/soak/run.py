"""Soak test of runs: ``python tests/soak/run.py --minutes 10``, or ``make soak MINUTES=10``.

Runs of small specs (:mod:`cases`) are killed, terminated, starved of disk, descriptors and memory, run two at a time, and their files torn.
After each of these the same command runs again, undisturbed. Its directory must then equal that of a run that nothing disturbed, byte
for byte apart from times. Everything else is a problem: wrong (other numbers), lost (no results), refused (the second run ends
with an error), traceback.

The scenarios take turns until the time is over. The exit status is 1 when there is a problem.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

from scenarios import SCENARIOS, Workshop


def main() -> int:
    """Run the scenarios in turn; return 1 when there are problems."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, help="turns of every scenario, in place of a time")
    parser.add_argument("--scenarios", nargs="*", default=list(SCENARIOS), choices=list(SCENARIOS))
    parser.add_argument("--specs", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_007)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in (
        "numpy",
        "scipy.stats",
        "pyarrow.parquet",
        "rich.table",
        "harness.api",
        "harness.cli.run",
        "harness.cli.report",
    ):
        importlib.import_module(name)
    until = time.monotonic() + 60 * args.minutes
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        workshop = Workshop(Path(folder), args.seed, args.specs)
        generators = {name: SCENARIOS[name](workshop) for name in args.scenarios}
        turn = 0
        while generators and (turn < args.rounds if args.rounds else time.monotonic() < until):
            for name in list(generators):
                if not args.rounds and time.monotonic() > until:
                    break
                if next(generators[name], None) is None:
                    del generators[name]  # every point of it has had its turn
            turn += 1
        return workshop.summary()


if __name__ == "__main__":
    sys.exit(main())
