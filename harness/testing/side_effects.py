"""Side effects of a component's work: output, files in the working folder, connections, global random states."""

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

from harness.testing.results import Violation

_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CACHE_FOLDERS = {"__pycache__", ".cache"}


@dataclass
class SideEffects:
    """Side effects recorded by :func:`record_side_effects`."""

    output: str = ""
    """Text printed to stdout."""
    files: list[str] = field(default_factory=list)
    """Files opened for writing and folders created below the working folder, relative to it."""
    connections: list[str] = field(default_factory=list)
    """Addresses of socket connections."""


_current: SideEffects | None = None
_hook_installed = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _current is None:
        return
    if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)) and int(args[2] or 0) & _WRITE_FLAGS:
        _record_file(args[0], _current)
    elif event in ("os.mkdir", "os.rename"):
        _record_file(args[0] if event == "os.mkdir" else args[1], _current)
    elif event == "socket.connect" and isinstance(args[1], tuple):
        _current.connections.append(str(args[1]))


def _record_file(path: str | bytes | os.PathLike[Any], effects: SideEffects) -> None:
    full = Path(os.path.abspath(os.fsdecode(path)))
    if full.is_relative_to(Path.cwd()) and not _CACHE_FOLDERS & set(full.parts):
        effects.files.append(str(full.relative_to(Path.cwd())))


@contextlib.contextmanager
def record_side_effects() -> Iterator[SideEffects]:
    """Record the side effects of the code in the context; files in ``.cache`` and ``__pycache__`` are not counted."""
    global _current, _hook_installed
    if not _hook_installed:
        sys.addaudithook(_audit)  # an audit hook cannot be removed; it returns at once while nothing is recorded
        _hook_installed = True
    stream = io.StringIO()
    effects = _current = SideEffects()
    try:
        with contextlib.redirect_stdout(stream):
            yield effects
    finally:
        _current = None
        effects.output = stream.getvalue()


def ensure_same_random_state(work: Callable[[], Any]) -> None:
    """Raise :class:`Violation` when ``work`` changes the global random state of Python or numpy."""
    before, numpy_before = random.getstate(), np.random.get_state(legacy=True)
    work()
    if random.getstate() != before:
        raise Violation("draws from Python's global random state; use a seeded random.Random")
    for old, new in zip(numpy_before, np.random.get_state(legacy=True)):
        if not np.array_equal(old, new):  # type: ignore[arg-type]
            raise Violation("draws from numpy's global random state; use np.random.default_rng(seed)")


@contextlib.contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed the global random states of Python and numpy, and restore them afterwards."""
    before, numpy_before = random.getstate(), np.random.get_state(legacy=True)
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # type: ignore[arg-type]
