"""Compiled kernels over slices of a batch, on all cores.

The kernels release the interpreter lock and each writes its own slice, so plain threads do: no threading layer that must
not be forked or entered twice, and the same digits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

PAIRS_PER_SLICE = 1024
"""Less work than this is not worth a thread."""
SLICES_PER_THREAD = 4
"""More slices than threads, so that an uneven one does not hold up the rest."""


def n_threads() -> int:
    """As many as numba would use: the machine's cores, or ``NUMBA_NUM_THREADS``."""
    from numba.core import config

    return int(getattr(config, "NUMBA_NUM_THREADS"))  # noqa: B009 - set at import, unseen by type checkers


def run_slices(work: Callable[[int, int], None], size: int, *, pairs: int = 1) -> None:
    """Call ``work(start, stop)`` on slices that cover ``range(size)``, in threads when there is enough to share.

    ``pairs``: how many pairs of texts (or as much work as that) each of the ``size`` items is.
    """
    threads = n_threads()
    step = max(-(-PAIRS_PER_SLICE // max(1, pairs)), -(-size // (threads * SLICES_PER_THREAD)))
    bounds = [(start, min(start + step, size)) for start in range(0, size, step)]
    if threads == 1 or len(bounds) <= 1:
        for start, stop in bounds:
            work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work, start, stop) for start, stop in bounds]:
            future.result()
