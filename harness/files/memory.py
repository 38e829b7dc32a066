"""Memory of the process, checked before code that does not survive without it."""

from __future__ import annotations

import mmap

SPARE = 16 << 20
"""Bytes beyond what the work itself needs."""


def require_memory(size: int = 0) -> None:
    """Raise :class:`MemoryError` unless the process can get ``size`` and :data:`SPARE`
    more bytes.

    Arrow's writers end the process where an allocation fails, and CPython waits for
    ever for a thread that finds no memory while it starts. The memory is mapped and
    given back without being written to, which takes microseconds.

    Parameters
    ----------
    size : int
        Number of bytes that the work needs.
    """
    needed = size + SPARE
    try:
        mmap.mmap(-1, needed).close()
    except OSError:
        raise MemoryError(f"{needed >> 20} MB more are needed") from None
