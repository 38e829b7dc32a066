"""Run compiled kernels over slices of a batch, in threads.

The kernels release the interpreter lock and each call writes its own slice, so plain threads suffice: no numba threading
layer, which is unsafe after a fork, and the same digits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

PAIRS_PER_SLICE = 1024
"""Smallest amount of work, in pairs of texts, for which a thread is started."""
SLICES_PER_THREAD = 4
"""Number of slices per thread; more than one, so that a slow slice does not delay the end."""


def n_threads() -> int:
    """Return numba's number of threads: the number of cores, or ``NUMBA_NUM_THREADS``."""
    from numba.core import config

    return int(getattr(config, "NUMBA_NUM_THREADS"))  # noqa: B009 - set at import, invisible to type checkers


def run_slices(work: Callable[[int, int], None], size: int, *, pairs: int = 1) -> None:
    """Call ``work(start, stop)`` on slices that cover ``range(size)``, in threads when there is enough work.

    Parameters
    ----------
    work : callable
        Processes the items ``start`` to ``stop``; must release the interpreter lock to gain from threads. An exception
        that it raises is raised here.
    size : int
        Number of items.
    pairs : int
        Cost of one item, in pairs of texts.

    Examples
    --------
    >>> squares = [0] * 5
    >>> def work(start, stop):
    ...     for i in range(start, stop):
    ...         squares[i] = i * i
    >>> run_slices(work, 5)
    >>> squares
    [0, 1, 4, 9, 16]
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
