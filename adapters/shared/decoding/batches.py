"""Batching with an automatic batch size: ``auto`` starts at :data:`AUTO_START` and halves whenever memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.errors import HarnessError

T = TypeVar("T")
R = TypeVar("R")
AUTO_START = 64
"""First batch size under ``auto``."""
_log = logging.getLogger(__name__)


def check_batch_size(size: int | str) -> int | str:
    """Return ``size``; raise :class:`HarnessError` unless it is a positive integer or ``auto``.

    >>> check_batch_size("auto"), check_batch_size(8)
    ('auto', 8)
    """
    if size == "auto" or (isinstance(size, int) and not isinstance(size, bool) and size >= 1):
        return size
    raise HarnessError(f"batch_size is a positive number or auto; found {size!r}")


def in_batches(items: Sequence[T], size: int | str, work: Callable[[Sequence[T]], Sequence[R]]) -> Iterator[R]:
    """Yield the results of ``work`` on consecutive batches of ``items``, in order.

    Parameters
    ----------
    items
        Items to process.
    size
        Items per batch, or ``auto``. Under ``auto`` a batch that runs out of memory is repeated at half the size; later batches
        use the smaller size.
    work
        Function from a batch to one result per item.

    Raises
    ------
    HarnessError
        If a batch of a fixed size, or a single item under ``auto``, runs out of memory.

    Examples
    --------
    >>> list(in_batches([1, 2, 3], 2, lambda batch: [sum(batch)] * len(batch)))
    [3, 3, 3]
    """
    current = AUTO_START if size == "auto" else int(size)
    start = 0
    while start < len(items):
        try:
            results = work(items[start : start + current])
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if size != "auto" or current == 1:
                raise HarnessError(f"out of memory at batch size {current}: {_advice(size)}") from error
            current = max(1, min(current, len(items) - start) // 2)
            free_memory()
            _log.warning("out of memory: batch size is now %d", current)
            continue
        yield from results
        start += current


def _advice(size: int | str) -> str:
    if size == "auto":
        return "one example does not fit; draw fewer candidates or use a smaller number format"
    return "give a smaller batch_size, or batch_size: auto"


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if an error of torch, an accelerator or the interpreter reports that memory ran out."""
    text = str(error)
    return isinstance(error, MemoryError) or "out of memory" in text.lower() or "can't allocate memory" in text


def free_memory() -> None:
    """Collect garbage and release cached accelerator memory."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
