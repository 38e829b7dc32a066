"""Rarer cyclic garbage collection while texts are scored.

Interning creates hundreds of thousands of small objects that all stay alive, and each full collection walks over all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_THRESHOLDS = 200_000, 20, 100
_lock = Lock()
_active: list[tuple[int, int, int]] = []
"""One entry per active block, in all threads; the first holds the thresholds from before."""


@contextmanager
def rare_collections() -> Generator[None]:
    """Raise the collection thresholds inside the block; the last block to end restores them. Also a decorator."""
    with _lock:
        before = gc.get_threshold()
        _active.append(_active[0] if _active else before)
        if before[0]:  # 0: collection is off, and stays off
            gc.set_threshold(*(max(pair) for pair in zip(_THRESHOLDS, before)))
    try:
        yield
    finally:
        with _lock:
            thresholds = _active.pop()
            if not _active:
                gc.set_threshold(*thresholds)
