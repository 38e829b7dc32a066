"""Errors that report that memory ran out, and the release of memory."""

from __future__ import annotations


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if an error of torch, an accelerator or the interpreter reports that
    memory ran out.
    """
    text = str(error)
    return (
        isinstance(error, MemoryError)
        or "out of memory" in text.lower()
        # a library of an accelerator, such as cuBLAS, that found no room of its own
        or "_ALLOC_FAILED" in text
        or "can't allocate memory" in text
    )


def free_memory() -> None:
    """Collect garbage and release cached accelerator memory."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
