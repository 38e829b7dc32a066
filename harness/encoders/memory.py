"""Memory of devices: errors that report that it ran out, its release, and room."""

from __future__ import annotations

from typing import Any

ROOM = 0.25
"""Share of the memory of an accelerator that kept vectors leave to computations."""


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


def has_room(device: str) -> bool:
    """Return True if a device has memory for vectors to be kept there: more than a
    quarter of it is free. The CPU has, and a device that does not tell its memory.

    >>> has_room("cpu")
    True
    """
    import torch

    kind = torch.device(device).type
    module: Any = getattr(torch, kind, None)
    memory_info = getattr(module, "mem_get_info", None)
    if memory_info is None:
        return True

    free, total = memory_info(device)
    # what torch holds for later tensors is free too
    held = module.memory_reserved(device) - module.memory_allocated(device)
    return free + held > ROOM * total
