"""Work done in batches; ``auto`` starts large and halves when memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from harness.errors import HarnessError

T = TypeVar("T")
R = TypeVar("R")
AUTO_START = 64
_log = logging.getLogger(__name__)


def check_batch_size(size: int | str) -> int | str:
    """``size`` if it is a positive integer or ``auto``; raises :class:`HarnessError` otherwise."""
    if size == "auto" or (isinstance(size, int) and not isinstance(size, bool) and size >= 1):
        return size
    raise HarnessError(f"batch_size is a positive number or auto; found {size!r}")


def in_batches(items: Sequence[T], size: int | str, work: Callable[[Sequence[T]], Sequence[R]]) -> Iterator[R]:
    """``work`` on consecutive parts of ``items``, its results in order.

    With ``auto`` a part that does not fit into memory is done again at half the size, which is kept from then on; a single
    item that does not fit, or a given size that does not fit, is told as :class:`HarnessError`.
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


def _advice(size: Any) -> str:
    return (
        "one example does not fit; draw fewer candidates or use a smaller number format"
        if size == "auto"
        else ("give a smaller batch_size, or batch_size: auto")
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch, of an accelerator or of the interpreter says that memory ran out."""
    return (
        isinstance(error, MemoryError) or "out of memory" in str(error).lower() or "can't allocate memory" in str(error)
    )


def free_memory() -> None:
    """Give cached accelerator memory back."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
