"""Fuzz the harness: ``python tests/fuzz/run.py --minutes 10``, or ``make fuzz MINUTES=10``.

One process per core works through the targets in turn. An input may take 5 seconds and 1 GB of memory beyond the start of its process.
What ends in anything but success or one line of :class:`HarnessError` is a finding: its input is written to ``.fuzz/TARGET/``, one per
place in the code. Fixed findings move to ``tests/fuzz/findings/TARGET/``, where ``test_findings.py`` reads them in every test run.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import logging
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.synchronize import Lock
from pathlib import Path

from fuzz_targets import TARGETS, attempt
from hypothesis import HealthCheck, Phase, given, seed, settings

SECONDS = 5
BYTES = 1 << 30
BATCH = 200
OUT = Path(".fuzz")


class TooSlow(BaseException):
    """An input takes more than :data:`SECONDS`."""


def too_slow(number: int, frame: object) -> None:
    """Raise :class:`TooSlow`, as a handler of SIGALRM."""
    raise TooSlow


def place(error: BaseException) -> str:
    """Return the innermost line of the harness in a traceback, with the type of the error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/site-packages/" not in frame.filename]
    last = next(
        (f for f in reversed(frames) if "/tests/" not in f.filename and "/lib/python" not in f.filename), frames[-1]
    )
    return f"{type(error).__name__} at {'/'.join(Path(last.filename).parts[-3:])}:{last.lineno}"


def keep(name: str, data: bytes, text: str) -> None:
    """Write the input of a finding and the text of its traceback, once per place."""
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    stem = hashlib.sha256(text.partition("\n")[0].encode()).hexdigest()[:12]
    if not (folder / stem).exists():
        (folder / stem).write_bytes(data)
        (folder / f"{stem}.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
        print(f"finding in {name}: {text.partition(chr(10))[0]} ({folder / stem})", flush=True)


def bound_memory() -> None:
    """Bound the address space to 1 GB beyond what the process uses."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def work(names: list[str], start: int, until: float, current: Path, counts: Path, lock: Lock) -> None:
    """Fuzz the targets in turn until a time; the input in work lies in ``current``."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    os.environ["HARNESS_LOCAL_PLUGINS"] = "0"
    signal.signal(signal.SIGALRM, too_slow)
    sys.set_int_max_str_digits(4300)
    seen: collections.Counter[str] = collections.Counter()
    warmed: set[str] = set()
    batch = start
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def attempted(name: str, data: bytes) -> None:
            if time.time() > until:
                return
            current.write_bytes(name.encode() + b"\n" + data)
            if name in warmed:
                signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                seen[f"{name} {attempt(name, data, Path(folder))}"] += 1
            except (Exception, TooSlow) as error:
                seen[f"{name} finding"] += 1
                with lock:
                    keep(name, data, f"{place(error)}\n{''.join(traceback.format_exception(error))}")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)

        while time.time() < until:
            name = names[batch % len(names)]
            bounded = name in warmed

            with contextlib.redirect_stderr(open(os.devnull, "w")):
                fuzz(name, batch, BATCH if bounded else 5, attempted)
            if not bounded:
                warmed.add(name)
                if len(warmed) == len(names):
                    bound_memory()
            batch += 1
            counts.write_text("\n".join(f"{key} {count}" for key, count in seen.items()))


def fuzz(name: str, number: int, examples: int, attempted: Callable[[str, bytes], None]) -> None:
    """Call ``attempted(name, data)`` with inputs of a target, drawn with the seed ``number``."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(number)
    @given(TARGETS[name].inputs)
    def one(data: bytes) -> None:
        attempted(name, data)

    one()


def main() -> int:
    """Run the workers; return 1 when there are findings."""
    global OUT
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--targets", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_007)
    args = parser.parse_args()
    OUT = OUT.resolve()
    until = time.time() + 60 * args.minutes
    total: collections.Counter[str] = collections.Counter()
    context = multiprocessing.get_context("fork")
    lock = context.Lock()
    with tempfile.TemporaryDirectory() as scratch:
        files = [(Path(scratch, f"input{k}"), Path(scratch, f"counts{k}.0")) for k in range(args.workers)]
        processes = []

        def start(k: int, first: int) -> multiprocessing.context.ForkProcess:
            process = context.Process(target=work, args=(args.targets, first, until, *files[k], lock))
            process.start()
            return process

        processes = [start(k, args.seed + k * 1_000_003) for k in range(args.workers)]
        generation = 0
        while any(process.is_alive() for process in processes):
            time.sleep(1)
            for k, process in enumerate(processes):
                current, counts = files[k]
                stuck = process.is_alive() and current.exists() and time.time() - current.stat().st_mtime > 120
                if stuck:
                    process.kill()
                    process.join()
                if stuck or (not process.is_alive() and process.exitcode):
                    if not current.exists():
                        raise SystemExit(f"a worker ended with {process.exitcode} before its first input")
                    name, _, data = current.read_bytes().partition(b"\n")
                    why = (
                        "no end within 120 s, in compiled code"
                        if stuck
                        else f"the process ended with {process.exitcode}"
                    )
                    keep(name.decode(), data, f"{why} {hashlib.sha256(data).hexdigest()[:8]}")
                    generation += 1
                    files[k] = (current, counts.with_suffix(f".{generation}"))
                    if time.time() < until:
                        processes[k] = start(k, args.seed + generation * 7_000_003)
                        current.touch()
        for file in Path(scratch).glob("counts*"):
            for line in file.read_text().splitlines():
                key, _, count = line.rpartition(" ")
                total[key] += int(count)
    return summary(args.targets, total)


def summary(names: list[str], total: collections.Counter[str]) -> int:
    """Print a line per target and return 1 when there are findings."""
    print(f"{'target':<18} {'inputs':>9} {'accepted':>9} {'refused':>9} {'findings':>9}")
    scored = 0
    for name in names:
        row = [total[f"{name} {end}"] for end in ("accepted", "refused", "finding")]
        scored += row[0] if TARGETS[name].scores else 0
        print(f"{name:<18} {sum(row):>9,} {row[0]:>9,} {row[1]:>9,} {row[2]:>9,}")
    found = sum(1 for file in OUT.rglob("*.txt")) if OUT.is_dir() else 0
    print(f"{sum(total.values()):,} inputs, {scored:,} of them reached a metric, {found} findings in {OUT}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
