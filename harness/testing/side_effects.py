"""What a component does besides its work: prints, files in the working folder, connections, random state."""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.testing.results import Violation, ensure

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PASSED_OVER = {"__pycache__", ".cache"}


@dataclass
class Doings:
    """What was seen while watching."""

    printed: str = ""
    written: list[str] = field(default_factory=list)
    """Files opened for writing, or made, below the working folder."""
    connections: list[str] = field(default_factory=list)


_current: Doings | None = None
_hooked = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _current is None:
        return
    if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)) and int(args[2] or 0) & _WRITES:
        _note(args[0])
    elif event in ("os.mkdir", "os.rename"):
        _note(args[0] if event == "os.mkdir" else args[1])
    elif event == "socket.connect" and isinstance(args[1], tuple):
        _current.connections.append(str(args[1]))


def _note(path: Any) -> None:
    full = Path(os.path.abspath(os.fsdecode(path)))
    if full.is_relative_to(Path.cwd()) and not _PASSED_OVER & set(full.parts) and _current is not None:
        _current.written.append(str(full.relative_to(Path.cwd())))


@contextlib.contextmanager
def watching() -> Iterator[Doings]:
    """Note what the code inside does. Caches (``.cache``, ``__pycache__``) are not files of the working folder."""
    global _current, _hooked
    if not _hooked:
        sys.addaudithook(_audit)  # cannot be taken away again: it does nothing while nobody watches
        _hooked = True
    stream = io.StringIO()
    doings = _current = Doings()
    try:
        with contextlib.redirect_stdout(stream):
            yield doings
    finally:
        _current = None
        doings.printed = stream.getvalue()


def prints_nothing(doings: Doings) -> None:
    ensure(not doings.printed, f"prints to stdout: {doings.printed[:60]!r}")


def writes_nothing(doings: Doings) -> None:
    ensure(not doings.written, f"writes into the working folder: {', '.join(dict.fromkeys(doings.written))[:80]}")


def connects_to_nothing(doings: Doings) -> None:
    ensure(not doings.connections, f"connects to {', '.join(dict.fromkeys(doings.connections))[:80]}")


def leaves_random_state_alone(act: Callable[[], Any]) -> None:
    """Raise :class:`Violation` where the global random states of Python and numpy are others afterwards."""
    before, numpy_before = random.getstate(), np.random.get_state(legacy=True)
    act()
    if random.getstate() != before:
        raise Violation("draws from Python's global random state; use a generator of its own, seeded")
    for old, new in zip(numpy_before, np.random.get_state(legacy=True)):
        if not np.array_equal(old, new):  # type: ignore[arg-type]
            raise Violation("draws from numpy's global random state; use np.random.default_rng(seed)")


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Global random states from a seed, and as they were afterwards."""
    before, numpy_before = random.getstate(), np.random.get_state(legacy=True)
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # type: ignore[arg-type]
