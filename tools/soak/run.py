"""The adversary: ``python -m tools.soak.run --minutes 10``, or
``make soak MINUTES=10``.

Histories of commands and disturbances (:mod:`machine`) over small runs (:mod:`cases`),
one process per core. A command is forked from a process that has loaded the modules; a
preloaded library (``shim.c``) kills it at any call that changes the file system. What a
history does wrong is a problem: wrong (other numbers), lost (no results), refused,
accepted (in place of a refusal), traceback, hang, outside (a file outside the run
directory was touched), paid (answers of a server were lost).

The exit status is 1 when there is a problem, or fewer than 30 histories a minute.
``--seed S --rounds 1 --workers 1`` repeats the histories of a seed; SIGTERM ends the
test early, with its counts.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tools.soak.shim import preload

HISTORIES = 30
"""Histories a minute below which the test says nothing."""
PER_SEED = 8
STEPS = 5


def work(args: argparse.Namespace) -> dict[str, Any]:
    """Run the histories of one seed after another until the time is over;
    return the counts and the failures.
    """
    preload()
    from hypothesis import HealthCheck, Phase, seed, settings
    from hypothesis.stateful import RULE_MARKER, run_state_machine_as_test

    from tools.soak.machine import Adversary
    from tools.soak.workshop import Workshop

    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    phases = [Phase.generate, Phase.shrink] if args.shrink else [Phase.generate]
    options = settings(
        max_examples=PER_SEED,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=[*HealthCheck],  # pyright: ignore[reportArgumentType]
        print_blob=False,
    )
    failures: list[str] = []
    began = time.monotonic()
    number = args.seed + args.worker
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        shop = Workshop(Path(folder))
        try:
            shop.stopped = stopped
            while not stopped and (
                args.rounds or time.monotonic() < began + 60 * args.minutes
            ):

                class Histories(Adversary):
                    pass

                for name in _rules(Adversary, RULE_MARKER) if args.rules else ():
                    if name not in args.rules.split(","):
                        setattr(Histories, name, None)
                Histories.shop = shop
                shop.failure = None
                shop.shrinks = args.shrink
                try:
                    run_state_machine_as_test(seed(number)(Histories), settings=options)
                except Exception:
                    if shop.failure is None:  # a bug of the test itself
                        raise
                if shop.failure is not None:  # also where it did not come again
                    failures.append(_describe(number, shop.failure))
                    print(failures[-1], flush=True)
                    if shop.failure[0].kind in args.until.split(","):
                        break
                number += args.workers
                if args.rounds and number >= args.seed + args.rounds * args.workers:
                    break
        finally:
            shop.close()
    return {"tally": dict(shop.tally), "failures": failures}


def _rules(machine: type, marker: str) -> list[str]:
    """Return the names of the rules of a state machine."""
    return [name for name in dir(machine) if hasattr(getattr(machine, name), marker)]


def _describe(number: int, failure: tuple[Exception, list[str]]) -> str:
    problem, trace = failure
    lines = [f"seed {number}: {problem}", *(f"    {line}" for line in trace)]
    return "\n".join(
        [
            *lines,
            f"  again: python -m tools.soak.run --seed {number} --rounds 1 --workers "
            "1 [--shrink]",
        ]
    )


def summary(
    tally: collections.Counter[str], failures: list[str], minutes: float
) -> int:
    """Print the counts; return 1 when there is a problem or too little was done."""
    pairs = {tuple(key.split("|")): count for key, count in tally.items() if "|" in key}
    rows = sorted({row for row, _ in pairs})
    columns = sorted({column for _, column in pairs})
    width = max(map(len, columns), default=10)
    print(f"{'':<{width}} " + " ".join(f"{row:>10}" for row in rows))
    for column in columns:
        print(
            f"{column:<{width}} "
            + " ".join(f"{pairs.get((row, column), 0) or '':>10}" for row in rows)
        )

    kinds = collections.Counter(text.split(": ")[1] for text in failures)
    found = (
        ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        or "0 lost, 0 wrong, 0 refused"
    )
    disturbed = sum(pairs.values())
    killed = tally["kills"]
    print(
        f"{tally['histories']:,} histories, {tally['commands']:,} commands, "
        f"{disturbed:,} disturbed, {killed:,} killed: {found}"
    )

    least = round(HISTORIES * minutes)
    if tally["histories"] < least:
        print(
            f"too little was done: {tally['histories']} histories in {minutes:g} "
            f"minutes; expected at least {least}"
        )
    return int(bool(failures) or tally["histories"] < least)


def main() -> int:
    """Start the workers and print their counts; return 1 when there are problems,
    or too few histories.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument(
        "--rounds",
        type=int,
        default=0,
        help=f"seeds per worker, of {PER_SEED} histories each, in place of a time",
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_007)
    parser.add_argument(
        "--until",
        default="",
        metavar="KINDS",
        help="end at the first problem of these kinds: lost,wrong",
    )
    parser.add_argument(
        "--rules",
        default="",
        metavar="NAMES",
        help="histories of these rules of machine.py alone: committing,altered",
    )
    parser.add_argument(
        "--shrink",
        action="store_true",
        help="look for the shortest history that fails (minutes)",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--counts", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if args.worker is not None:
        args.counts.write_text(json.dumps(work(args)))
        return 0

    print(f"seed {args.seed}", flush=True)
    tally: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, str(k)) for k in range(args.workers)]
        options = [
            *sys.argv[1:],
            "--seed",
            str(args.seed),
            "--workers",
            str(args.workers),
        ]
        commands = [
            [
                sys.executable,
                "-m",
                "tools.soak.run",
                *options,
                "--worker",
                str(k),
                "--counts",
                str(file),
            ]
            for k, file in enumerate(files)
        ]

        workers = [
            subprocess.Popen(command, start_new_session=True) for command in commands
        ]
        if any(_ends(workers, bool(args.until))):
            return 1

        for file in files:
            counts = json.loads(file.read_text())
            tally.update(counts["tally"])
            failures += counts["failures"]

    return summary(tally, failures, 0 if args.rounds else args.minutes)


def _ends(workers: list[subprocess.Popen[bytes]], ends_together: bool) -> list[int]:
    """Return the exit statuses of the workers;
    SIGTERM and Ctrl-C let them end after their present histories.

    With ``ends_together`` the end of one lets the others end too.
    """

    def stop(number: int, frame: object) -> None:
        for process in workers:
            process.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while any(process.poll() is None for process in workers):
        if ends_together and any(process.poll() is not None for process in workers):
            stop(0, None)
            break
        time.sleep(0.2)
    return [process.wait() for process in workers]


if __name__ == "__main__":
    sys.exit(main())
