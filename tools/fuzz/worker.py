"""A process of the fuzzer: works through the targets until a time, within bounds of
memory and time per input.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import logging
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.synchronize import Lock
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tools.fuzz.fuzz_target import attempt
from tools.fuzz.fuzz_targets import TARGETS

SECONDS = 5
"""CPU seconds of an input; a batch has as much again for every 16 caption sets."""
BYTES = 1 << 30
NEW = 10
"""Inputs that hypothesis draws for a turn of a target; the others of the turn are
variations of them and of earlier ones.
"""
POOL = 100
"""Largest number of inputs of a target that are varied."""
TURN = 3.0
"""CPU seconds of a turn."""
SHARES = {
    "metrics": 8.0,
    "tokenisers": 2.0,
    "registries": 0.5,
    "run-directories": 3.0,
    "labels": 2.0,
    "exports": 3.0,
    "terminals": 3.0,
}
"""Shares of the time; 1 for the others."""
AREA = 1 << 18


class TooSlow(BaseException):
    """An input takes too much time."""


def too_slow(number: int, frame: object) -> None:
    """Raise :class:`TooSlow`, as a handler of SIGPROF."""
    raise TooSlow


class Current:
    """The input in work, in memory shared with the parent process,
    which reads it when this process dies.
    """

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(AREA))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), AREA)
        self._number = 0

    def set(self, name: str, data: bytes) -> None:
        """Store the name of a target and its input."""
        self._number += 1
        content = name.encode() + b"\n" + data[: AREA - 100]
        self._map[: 16 + len(content)] = (
            struct.pack("<QQ", self._number, len(content)) + content
        )


def read_current(path: Path) -> tuple[int, str, bytes]:
    """Return the number of the input in work, the name of its target, and the input;
    0 before the first.
    """
    data = path.read_bytes() if path.exists() else b""
    if len(data) < 16:
        return 0, "", b""
    number, size = struct.unpack_from("<QQ", data)
    name, _, content = data[16 : 16 + size].partition(b"\n")
    return number, name.decode(), content


def cpu_seconds(pid: int | None) -> float:
    """Return the CPU seconds of a process so far; 0 for one that has ended.

    On a busy machine the clock says little.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def place(error: BaseException) -> str:
    """Return the innermost line of the harness in a traceback,
    with the type of the error.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/site-packages/" not in frame.filename
    ]
    last = next(
        (
            f
            for f in reversed(frames)
            if "/tools/fuzz/" not in f.filename and "/lib/python" not in f.filename
        ),
        frames[-1],
    )
    return (
        f"{type(error).__name__} at "
        f"{'/'.join(Path(last.filename).parts[-3:])}:{last.lineno}"
    )


def keep(out: Path, name: str, data: bytes, text: str) -> None:
    """Write the input of a finding and the text of its traceback, once per place."""
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    stem = hashlib.sha256(text.partition("\n")[0].encode()).hexdigest()[:12]
    if not (folder / stem).exists():
        (folder / stem).write_bytes(data)
        (folder / f"{stem}.txt").write_text(
            text, encoding="utf-8", errors="backslashreplace"
        )
        print(
            f"finding in {name}: {text.partition(chr(10))[0]} ({folder / stem})",
            flush=True,
        )


def bound_memory() -> None:
    """Bound the address space to 1 GB beyond what the process uses."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Worker:
    """The loop over targets of one process."""

    def __init__(
        self,
        folder: Path,
        out: Path,
        current: Current,
        lock: Lock | contextlib.AbstractContextManager,
    ) -> None:
        self.folder = folder
        self.out = out
        self.current = current
        self.lock = lock
        self.seen: collections.Counter[str] = collections.Counter()
        self.warmed: set[str] = set()
        self.pools: dict[str, collections.deque[bytes]] = {}

    def attempted(self, name: str, data: bytes) -> None:
        """Give an input to a target and count its end;
        a finding in a batch is looked for in its halves.
        """
        target = TARGETS[name]
        size = target.size(data)
        end, error = self._end(name, data, size)
        if error is not None and size > 1:
            for half in target.halves(data):
                self.attempted(name, half)
            return
        if end != "skipped":
            self.seen[f"{name} {end}"] += size
        if error is not None:
            if isinstance(error, TooSlow | MemoryError):
                self.seen[
                    f"- {'slow' if isinstance(error, TooSlow) else 'memory'}"
                ] += 1
            with self.lock:
                keep(
                    self.out,
                    name,
                    data,
                    f"{place(error)}\n{''.join(traceback.format_exception(error))}",
                )

    def _end(
        self, name: str, data: bytes, size: int
    ) -> tuple[str, BaseException | None]:
        self.current.set(name, data)
        if name in self.warmed:
            signal.setitimer(signal.ITIMER_PROF, SECONDS * (1 + size // 16))
        try:
            return attempt(name, data, self.folder), None
        except (Exception, TooSlow) as error:
            return "finding", error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def turn(self, name: str, number: int, until: float) -> None:
        """Work on one target: inputs of hypothesis, then variations of them."""
        pool = self.pools.setdefault(name, collections.deque(maxlen=POOL))
        drawn: list[bytes] = []
        draw(name, number, NEW, drawn.append)
        for data in drawn:
            self.attempted(name, data)
        pool.extend(drawn)
        if name not in self.warmed:
            self.warmed.add(name)
            return
        generator = random.Random(number)
        end = time.process_time() + TURN
        while time.process_time() < end and time.time() < until:
            self.attempted(name, TARGETS[name].vary(pool, generator))


def draw(name: str, number: int, examples: int, use: Callable[[bytes], object]) -> None:
    """Call ``use(data)`` with inputs of a target, drawn with the seed ``number``."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck.__members__.values()],
    )
    @seed(number)
    @given(TARGETS[name].inputs)
    def one(data: bytes) -> None:
        use(data)

    one()


def prepare_process() -> None:
    """Silence the process and set the handler of the time bound."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    os.environ["HARNESS_LOCAL_PLUGINS"] = "0"
    signal.signal(signal.SIGPROF, too_slow)
    sys.set_int_max_str_digits(4300)


def work(
    names: list[str],
    start: int,
    until: float,
    current: Path,
    counts: Path,
    lock: Lock,
    out: Path,
) -> None:
    """Fuzz the targets until a time, each for its share of it."""
    prepare_process()
    used = dict.fromkeys(names, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        worker = Worker(Path(folder), out, Current(current), lock)
        number = start
        with contextlib.redirect_stderr(open(os.devnull, "w")):
            while time.time() < until:
                name = min(names, key=lambda n: used[n] / SHARES.get(n, 1.0))
                began = time.process_time()
                cold = name not in worker.warmed
                worker.turn(name, number, until)
                used[name] += (time.process_time() - began) if not cold else 1e-6
                if cold and len(worker.warmed) == len(names):
                    bound_memory()
                number += 1
                counts.write_text(
                    "\n".join(f"{key} {count}" for key, count in worker.seen.items())
                )
