"""Batches that halve whenever memory runs out.

A size that fits is remembered, so that each model meets its limit once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.encoders.memory import free_memory, is_out_of_memory
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
        # on its batch, so nothing changes but the speed. Memory is freed outside of the
        # handler, whose traceback holds the tensors of the batch.
        if results is None:
            free_memory()
            continue

        batches.fits()
        yield from results
        start += len(batch)
