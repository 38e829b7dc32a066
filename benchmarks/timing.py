"""Timing of functions, and sections of benchmarks with goals."""

from __future__ import annotations

import importlib
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def timed(work: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """Return the seconds of the fastest of ``repeats`` calls,
    and the result of the last one.
    """
    best = float("inf")
    for _ in range(repeats - 1):
        best = min(best, _once(work)[0])
    seconds, result = _once(work)
    return min(best, seconds), result


def _once(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def peak_memory() -> float:
    """Return the peak resident memory of this process in GiB.

    On Linux it is the peak since the program was loaded: what ``getrusage`` says of a
    child includes the memory of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        (line,) = re.findall(r"^VmHWM:\s*(\d+) kB$", status.read_text(), re.MULTILINE)
        return int(line) / 2**20
    unit = 2**30 if sys.platform == "darwin" else 2**20  # bytes there, else KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def run_sections(sections: Sequence[str], only: Sequence[str]) -> int:
    """Run modules of ``benchmarks.sections`` (all, or those in ``only``); return 0 when
    each ``report()`` is True, else 1.
    """
    unknown = sorted(set(only) - set(sections))
    if unknown:
        raise SystemExit(
            f"no section {', '.join(unknown)}; sections are {', '.join(sections)}"
        )
    names = [name for name in sections if not only or name in only]
    met = [
        importlib.import_module(f"benchmarks.sections.{name}").report()
        for name in names
    ]
    return 0 if all(met) else 1
