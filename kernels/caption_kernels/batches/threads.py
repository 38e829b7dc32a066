"""Run kernels over slices of a batch, in threads.

The compiled kernels release the interpreter lock, start no thread themselves, and each
call writes its own slice: so plain threads suffice, and the digits are the same for any
number of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable

VARIABLE = "CAPTION_KERNELS_THREADS"
"""Environment variable with the number of threads."""
PAIRS_PER_SLICE = 1024
"""Smallest amount of work, in pairs of texts, for which a thread is started."""
SLICES_PER_THREAD = 4
"""Number of slices per thread; more than one,
so that a slow slice does not delay the end.
"""


def n_threads() -> int:
    """Return the number of threads: that of :data:`VARIABLE`, else the number of cores
    that this process may use.

    Raises
    ------
    ValueError
        When the variable is not a positive integer.
    """
    setting = os.environ.get(VARIABLE)
    if setting:
        if not (setting.isascii() and setting.isdigit() and int(setting) > 0):
            raise ValueError(
                f"{VARIABLE} is {setting!r}; expected a number of threads from 1 on"
            )
        return int(setting)
    # Linux: the cores that this process may use
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def run_slices(work: Callable[[int, int], None], size: int, *, pairs: int = 1) -> None:
    """Call ``work(start, stop)`` on slices that cover ``range(size)``,
    in threads when there is enough work.

    Parameters
    ----------
    work : callable
        Processes the items ``start`` to ``stop``; must release the interpreter lock to
        gain from threads. An exception that it raises is raised here.
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
    step = max(
        -(-PAIRS_PER_SLICE // max(1, pairs)), -(-size // (threads * SLICES_PER_THREAD))
    )
    bounds = [(start, min(start + step, size)) for start in range(0, size, step)]
    if threads == 1 or len(bounds) <= 1:
        for start, stop in bounds:
            work(start, stop)
        return
    from concurrent.futures import ThreadPoolExecutor  # 10 ms: small jobs need no pool

    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work, start, stop) for start, stop in bounds]:
            future.result()
