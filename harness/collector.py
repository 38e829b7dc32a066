"""Python's cyclic garbage collector while texts are scored.

Interning makes hundreds of thousands of small objects that all live on, and every so many the collector walks over everything there is,
in vain. While scoring it comes seldom. At the end of the process, where it would walk over everything several times more, it is told
that nothing is left to collect, unless there is something that must be told of its end: a file that an unreachable object holds open
is written out then.
"""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from types import GeneratorType

_THRESHOLDS = 200_000, 20, 100
_AT_EASE = frozenset({"numba", "llvmlite"})
"""Packages whose objects only give memory back at their end."""


class _Visits:
    """How many blocks of code want the collector to come seldom, in all threads, and the settings before the first."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.before = gc.get_threshold()


_visits = _Visits()


class _Finalizers(dict[type, bool]):
    """Whether a type does something at the end of its objects, by type, found out on first use."""

    def __missing__(self, kind: type) -> bool:
        package = str(kind.__module__).partition(".")[0]
        known = kind is GeneratorType or package in _AT_EASE  # what a generator holds open stands for itself
        self[kind] = found = not known and any("__del__" in vars(base) for base in kind.__mro__)
        return found


@contextmanager
def seldom() -> Iterator[None]:
    """Fewer collections inside; the settings from before once nobody is inside, in any thread. Also a decorator."""
    quick_exit()
    with _visits.lock:
        if _visits.count == 0:
            before = _visits.before = gc.get_threshold()
            if before[0]:  # 0: it is off
                gc.set_threshold(*(max(pair) for pair in zip(_THRESHOLDS, before)))
        _visits.count += 1
    try:
        yield
    finally:
        with _visits.lock:
            _visits.count -= 1
            if _visits.count == 0:
                gc.set_threshold(*_visits.before)


@cache
def quick_exit() -> None:
    """Have the process end without a last search for garbage, where that changes nothing."""
    atexit.register(_settle)


def _settle() -> None:
    finalizes = _Finalizers()
    standard = {id(part) for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__) for part in _layers(stream)}
    if all(id(item) in standard for item in gc.get_objects() if finalizes[type(item)]):
        gc.freeze()


def _layers(stream: object) -> Iterator[object]:
    """A standard stream and what it writes through."""
    for name in ("buffer", "raw", ""):
        yield stream
        stream = getattr(stream, name, None)
