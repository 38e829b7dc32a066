"""Batches that halve whenever memory runs out, and grow to what an accelerator holds.

A size that fits is remembered, so that each model meets its limit once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.encoders.memory import free_memory, is_out_of_memory
from harness.errors import HarnessError
from harness_models.shared.decoding.memory_meter import MemoryMeter

T = TypeVar("T")
R = TypeVar("R")
AUTO_START = 64
"""First batch size under ``auto``."""
AUTO_LIMIT = 1024
"""Largest batch size under ``auto``; above it an accelerator is no faster."""
GROWTH = 4
"""Largest growth from one batch to the next, since a small batch says little about the
memory of a large one.
"""
MULTIPLE = 8
"""Sizes that are found are multiples of it, as kernels of accelerators like them."""
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
    meter
        Memory of the devices of the model. Under ``auto`` a full batch that fits makes
        room for larger ones, until one does not fit. Without it no size grows.
    """

    def __init__(self, requested: int | str, meter: MemoryMeter | None = None) -> None:
        self.requested = requested
        self.current = AUTO_START if requested == "auto" else int(requested)
        self._meter = meter if requested == "auto" else None
        self._failed: int | None = None

    def begin(self) -> None:
        """Start a batch."""
        if self._meter is not None:
            self._meter.begin()

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
        # what fits is known now, and a second failure would cost a batch again
        self._meter = None

    def fits(self, examples: int) -> None:
        """Take note of a batch that fits: report a size that was found by halving,
        once, and grow where the memory has room.
        """
        if self._meter is not None and examples == self.current:
            self._grow(self._meter.room(examples))
        if self._failed is not None:
            _log.warning(
                "out of memory with %d examples in a batch: batches now have %d",
                self._failed,
                self.current,
            )
            self._failed = None

    def _grow(self, room: int | None) -> None:
        """Take a larger size, where there is room for it."""
        if room is None:
            return
        size = min(room, GROWTH * self.current, AUTO_LIMIT)
        size -= size % MULTIPLE
        if size > self.current:
            _log.info("the memory has room for batches of %d examples", size)
            self.current = size


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
        batches.begin()
        try:
            results = work(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            batches.halve(len(batch), error)
            results = None

        # The same examples are tried again with half as many; a caption does not depend
        # on its batch, so nothing changes but the speed. Memory is freed outside of the
        # handler, whose traceback holds the tensors of the batch.
        if results is None:
            free_memory()
            continue

        batches.fits(len(batch))
        yield from results
        start += len(batch)
