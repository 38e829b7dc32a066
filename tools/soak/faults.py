"""Faults of the operating system, installed in a process of the soak test: crashes, a full disk, jumps of the clock.

:func:`install` replaces the functions of ``os``, ``open`` and ``time`` that change or name the world. Calls are counted; from a number
on they fail, or the process dies. A write that fails leaves half of its bytes behind. Code below Python (Parquet files are
written by Arrow) is not reached; the calls around it are.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CHANGES = ("replace", "rename", "mkdir", "rmdir", "unlink", "remove", "fsync", "ftruncate", "pwrite", "link", "symlink")
"""Functions of ``os`` that change the file system."""
NEEDS_SPACE = ("mkdir", "fsync", "pwrite", "link", "symlink", "write", "create")
"""Those that a full disk refuses."""
NEEDS_DESCRIPTOR = ("create", "open")


@dataclass(frozen=True)
class Fault:
    """A fault: its kind and the number of the first call that it concerns."""

    kind: str
    """``kill``, ``term``, ``full`` (ENOSPC), ``read-only`` (EROFS), ``descriptors`` (EMFILE), ``clock`` or ``count``."""
    at: int = 0
    seed: int = 0


class Counter:
    """Number of counted calls so far."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.calls = 0
        self.terminated = False

    def hit(self, name: str, half: Callable[[], object] | None = None) -> None:
        """Count a call; fail where the fault says so, after ``half``, which writes a part of the data."""
        kind = self.fault.kind
        if kind == "full" and name not in NEEDS_SPACE:
            return
        if kind == "descriptors" and name not in NEEDS_DESCRIPTOR:
            return
        if kind != "descriptors" and name == "open":
            return
        self.calls += 1
        if self.calls <= self.fault.at or kind == "count":
            return
        if kind == "term":
            if not self.terminated:
                self.terminated = True
                os.kill(os.getpid(), signal.SIGTERM)
            return
        if half is not None and kind in ("kill", "full"):
            half()
        if kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        number = {"full": errno.ENOSPC, "read-only": errno.EROFS, "descriptors": errno.EMFILE}[kind]
        raise OSError(number, os.strerror(number))


class TornFile(io.FileIO):
    """A file opened for writing whose writes are counted."""

    def __init__(self, path: Any, mode: str, counter: Counter, opener: Any = None) -> None:
        super().__init__(path, mode, opener=opener)
        self._counter = counter

    def write(self, data: Any) -> int:
        """Write the data; where the fault strikes, half of it."""
        view = memoryview(data).cast("B")
        self._counter.hit("write", lambda: super(TornFile, self).write(view[: len(view) // 2]))
        return super().write(data)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut the file."""
        self._counter.hit("ftruncate")
        return super().truncate(size)


def install(fault: Fault) -> Counter:
    """Install a fault in this process and return its counter."""
    counter = Counter(fault)
    if fault.kind == "clock":
        _jumping_clock(fault.seed)
        return counter
    for name in CHANGES:
        setattr(os, name, _counted(getattr(os, name), name, counter))
    os.open = _counted_open(os.open, counter)
    builtins.open = io.open = _torn_open(builtins.open, counter)  # type: ignore[assignment]
    return counter


def _counted(function: Any, name: str, counter: Counter) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        counter.hit(name)
        return function(*arguments, **options)

    return call


def _counted_open(function: Any, counter: Counter) -> Any:
    def call(path: Any, flags: int, *arguments: Any, **options: Any) -> Any:
        counter.hit("create" if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR) else "open")
        return function(path, flags, *arguments, **options)

    return call


def _torn_open(function: Any, counter: Counter) -> Any:
    def call(file: Any, mode: str = "r", buffering: int = -1, *arguments: Any, **options: Any) -> Any:
        opener = options.get("opener")
        ours = not isinstance(file, int) and not str(file).startswith(("/dev/", "/proc/")) and buffering in (-1, 0)
        if not any(letter in mode for letter in "wax+"):
            if ours:
                counter.hit("open")
            return function(file, mode, buffering, *arguments, **options)
        if not ours or "+" in mode:
            return function(file, mode, buffering, *arguments, **options)
        counter.hit("create")
        raw = TornFile(file, mode.replace("b", "").replace("t", ""), counter, opener)
        if buffering == 0:
            return raw
        buffered = io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        options.pop("opener", None)
        return io.TextIOWrapper(buffered, *arguments, **options)

    return call


def _jumping_clock(seed: int) -> None:
    """Let the wall clock jump by up to ten years, back and forth, at one call in three."""
    generator, real, offset = random.Random(seed), time.time, [0.0]

    def now() -> float:
        if generator.random() < 1 / 3:
            offset[0] = generator.choice((0.0, -3600.0, 86400.0, generator.uniform(-3e8, 3e8)))
        return real() + offset[0]

    time.time = now
    time.time_ns = lambda: int(now() * 1e9)
