"""Python's cyclic garbage collector while texts are scored.

Interning makes hundreds of thousands of small objects that all live on, and every so many the collector walks over everything there is,
in vain. While scoring it comes seldom; at the end of the process, where it would walk over everything several times more, it is
told that nothing is left to collect.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_THRESHOLDS = 200_000, 20, 100


@contextmanager
def seldom() -> Iterator[None]:
    """Fewer collections inside; the settings from before afterwards. Also a decorator."""
    before = gc.get_threshold()
    gc.set_threshold(*(max(pair) for pair in zip(_THRESHOLDS, before)) if all(before) else before)
    quick_exit()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@cache
def quick_exit() -> None:
    """Have the process end without a last search for garbage."""
    atexit.register(gc.freeze)
