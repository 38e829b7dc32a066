"""Images decoded by other threads ahead of the model that reads them.

Pillow decodes and resizes without the lock of the interpreter, so that threads use all
cores; nothing has to be sent between processes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
AHEAD = 8
"""Images per worker that are decoded and not read yet: enough that none waits."""


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def decode_ahead(
    names: Iterable[str],
    decode: Callable[[str], T],
    workers: int | None = None,
    *,
    begin: Callable[[], None] | None = None,
) -> Iterator[T]:
    """Yield ``decode(name)`` of each name in order; later ones are decoded meanwhile.

    Parameters
    ----------
    names : iterable of str
        Names of images.
    decode : callable
        Function that opens, decodes and resizes an image. What it raises is raised
        where the image would be yielded.
    workers : int, optional
        Number of threads; default: one per core of this process.
    begin : callable, optional
        Called in each thread before its first image.
    """
    count = workers or count_cores()
    waiting = iter(names)
    with ThreadPoolExecutor(count, initializer=begin) as pool:
        queue = deque[Future[T]](
            pool.submit(decode, name) for name in islice(waiting, count * AHEAD)
        )
        try:
            while queue:
                image = queue.popleft().result()
                queue.extend(pool.submit(decode, name) for name in islice(waiting, 1))
                yield image
        finally:
            for future in queue:
                future.cancel()
