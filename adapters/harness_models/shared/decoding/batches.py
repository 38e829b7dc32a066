"""Batches that halve whenever memory runs out.

A size that fits is remembered, so that each model meets its limit once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Lock, Thread
from typing import Any, Generic, TypeVar

from harness.contracts import Generation
from harness.errors import HarnessError

T = TypeVar("T")
R = TypeVar("R")
AUTO_START = 64
"""First batch size under ``auto``."""
_log = logging.getLogger(__name__)


def check_batch_size(size: int | str) -> int | str:
    """Return ``size``; raise :class:`HarnessError` unless it is a positive integer or
    ``auto``.

    >>> check_batch_size("auto"), check_batch_size(8)
    ('auto', 8)
    """
    if size == "auto" or (
        isinstance(size, int) and not isinstance(size, bool) and size >= 1
    ):
        return size
    raise HarnessError(f"batch_size is a positive number or auto; found {size!r}")


class BatchSize:
    """Number of examples in the batches of one model.

    Parameters
    ----------
    requested
        First size, or ``auto`` for :data:`AUTO_START`.
    """

    def __init__(self, requested: int | str) -> None:
        self.requested = requested
        self.current = AUTO_START if requested == "auto" else int(requested)
        self._failed: int | None = None

    def halve(self, tried: int, error: BaseException) -> None:
        """Set the size to half of ``tried``, which ran out of memory; raise
        :class:`HarnessError` for a single example.
        """
        if tried <= 1:
            raise HarnessError(
                "out of memory at batch size 1: one example does not fit; "
                "draw fewer candidates or use a smaller number format"
            ) from error
        # The first size that failed is what a user wants to hear of, not the halves on
        # the way down.
        self._failed = self._failed or tried
        self.current = tried // 2

    def fits(self) -> None:
        """Report a size that was found by halving, once."""
        if self._failed is not None:
            _log.warning(
                "out of memory with %d examples in a batch: batches now have %d",
                self._failed,
                self.current,
            )
            self._failed = None


def in_batches(
    items: Sequence[T],
    size: int | str | BatchSize,
    work: Callable[[Sequence[T]], Sequence[R]],
) -> Iterator[R]:
    """Yield the results of ``work`` on consecutive batches of ``items``, in order.

    Parameters
    ----------
    items
        Items to process.
    size
        Items per batch. A batch that runs out of memory is repeated at half the size,
        and later batches use the smaller size.
    work
        Function from a batch to one result per item.

    Raises
    ------
    HarnessError
        If a single item runs out of memory.

    Examples
    --------
    >>> list(in_batches([1, 2, 3], 2, lambda batch: [sum(batch)] * len(batch)))
    [3, 3, 3]
    """
    batches = size if isinstance(size, BatchSize) else BatchSize(size)
    start = 0
    while start < len(items):
        batch = items[start : start + batches.current]
        try:
            results = work(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            batches.halve(len(batch), error)
            results = None
        # The same examples are tried again with half as many; a caption does not depend
        # on its batch, so nothing changes but the speed. outside the handler, whose
        # traceback holds the tensors of the batch
        if results is None:
            free_memory()
            continue
        batches.fits()
        yield from results
        start += len(batch)


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if an error of torch, an accelerator or the interpreter reports that
    memory ran out.
    """
    text = str(error)
    return (
        isinstance(error, MemoryError)
        or "out of memory" in text.lower()
        or "can't allocate memory" in text
    )


def free_memory() -> None:
    """Collect garbage and release cached accelerator memory."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


# --------------------------------------------------------------------------- throughput
# Speed of generation: captions and tokens per second of a model.


class Throughput:
    """Captions and tokens that a model wrote, and the time during which it wrote.

    Replicas that write at the same time share one object: the time in which at least
    one of them writes is counted once.
    """

    def __init__(self) -> None:
        self.captions = self.tokens = 0
        self.seconds = 0.0
        self._lock = Lock()
        self._active = 0
        self._since = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Return the counts; another process has a lock of its own."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock(), _active=0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of a ``with`` block."""
        with self._lock:
            if self._active == 0:
                self._since = time.perf_counter()
            self._active += 1
        try:
            yield
        finally:
            with self._lock:
                self._active -= 1
                if self._active == 0:
                    self.seconds += time.perf_counter() - self._since

    def count(self, results: Sequence[Any]) -> None:
        """Add the captions and tokens of generations; other results count nothing."""
        generations = [item for item in results if isinstance(item, Generation)]
        with self._lock:
            self.captions += sum(len(item.candidates) for item in generations)
            self.tokens += sum(sum(item.lengths or ()) for item in generations)

    def values(self) -> dict[str, float]:
        """Return ``captions``, ``tokens``, ``seconds`` and ``tokens_per_second`` (0
        before the first batch).
        """
        rate = self.tokens / self.seconds if self.seconds > 0 else 0.0
        return {
            "captions": self.captions,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "tokens_per_second": rate,
        }


# --------------------------------------------------------------------------- spread
# Work spread over replicas of a model: each takes the next items when it is free,
# results come in order.


@dataclass
class Replica(Generic[T, R]):
    """One of several equal workers."""

    work: Callable[[Sequence[T]], Iterable[R]]
    """Function from items to one result per item."""
    size: Callable[[], int]
    """Return the number of items to take at a time."""


@dataclass
class _Shared:
    """Progress that the threads share."""

    results: dict[int, list[Any]] = field(default_factory=dict)
    """Results by the index of their first item."""
    next: int = 0
    """Index of the first item that nobody has taken."""
    error: BaseException | None = None
    change: Condition = field(default_factory=Condition)


def spread(items: Sequence[T], replicas: Sequence[Replica[T, R]]) -> Iterator[R]:
    """Yield the results of all items in order;
    each replica works in a thread of its own.

    A replica takes ``size()`` items, and fewer towards the end, so that all finish at
    about the same time. An error of one replica stops the others after their current
    items and is raised.

    Examples
    --------
    >>> double = Replica(lambda part: [2 * item for item in part], lambda: 2)
    >>> list(spread([1, 2, 3, 4, 5], [double, double]))
    [2, 4, 6, 8, 10]
    """
    shared = _Shared()
    threads = [
        Thread(
            target=_run,
            args=(items, replica, shared, len(replicas)),
            name=f"replica-{i}",
            daemon=True,
        )
        for i, replica in enumerate(replicas)
    ]
    for thread in threads:
        thread.start()
    position = 0
    try:
        while position < len(items):
            with shared.change:
                shared.change.wait_for(
                    lambda at=position: shared.error is not None or at in shared.results
                )
                if shared.error is not None:
                    raise shared.error
                results = shared.results.pop(position)
            yield from results
            position += len(results)
    finally:
        with shared.change:
            shared.next = len(items)
        for thread in threads:
            thread.join()


def _run(
    items: Sequence[T], replica: Replica[T, R], shared: _Shared, replicas: int
) -> None:
    """Take items until there are none."""
    while True:
        with shared.change:
            start = shared.next
            left = len(items) - shared.next
            if left <= 0:
                return
            shared.next = start + min(replica.size(), -(-left // replicas))
            stop = shared.next
        try:
            results = list(replica.work(items[start:stop]))
            if len(results) != stop - start:
                raise RuntimeError(
                    f"a replica returned {len(results)} results for {stop - start} "
                    "items"
                )
        except BaseException as error:
            with shared.change:
                shared.error = shared.error or error
                shared.next = len(items)
                shared.change.notify_all()
            return
        with shared.change:
            shared.results[start] = results
            shared.change.notify_all()
