"""The number of examples that fill the memory of an accelerator, from what a batch
took.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

SHARE = 0.8
"""Part of the free memory that a batch may take: later examples can be longer than
those that were measured, and free memory lies in pieces.
"""
_COUNTERS = (
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "mem_get_info",
    "reset_peak_memory_stats",
)


class MemoryMeter(Protocol):
    """Watches the memory of one batch after another."""

    def begin(self) -> None:
        """Start to watch a batch."""
        ...

    def room(self, examples: int) -> int | None:
        """Return the number of examples that would fill the memory, where a batch of
        ``examples`` was computed since :meth:`begin`; None where it took nothing that
        is counted.
        """
        ...


class Counters(Protocol):
    """Memory of the devices of one kind in bytes, as ``torch.cuda`` counts it."""

    def memory_allocated(self, device: str) -> int:
        """Return the memory of all tensors."""
        ...

    def max_memory_allocated(self, device: str) -> int:
        """Return the highest memory of all tensors since the last reset."""
        ...

    def memory_reserved(self, device: str) -> int:
        """Return the memory that torch holds, for tensors or in reserve."""
        ...

    def mem_get_info(self, device: str) -> tuple[int, int]:
        """Return the memory that no process holds, and that of the device."""
        ...

    def reset_peak_memory_stats(self, device: str) -> None:
        """Forget the highest memory."""
        ...


class AcceleratorMemory:
    """Memory of the accelerators that hold one model.

    Parameters
    ----------
    counters
        Counters of each device.
    """

    def __init__(self, counters: dict[str, Counters]) -> None:
        self._counters = counters
        self._allocated: dict[str, int] = {}
        self._free: dict[str, int] = {}

    def begin(self) -> None:
        """Start to watch a batch: note what is allocated and free before it."""
        for device, counters in self._counters.items():
            allocated = counters.memory_allocated(device)
            # torch keeps freed memory in reserve, where others do not see it as free
            reserve = counters.memory_reserved(device) - allocated
            self._allocated[device] = allocated
            self._free[device] = counters.mem_get_info(device)[0] + reserve
            counters.reset_peak_memory_stats(device)

    def room(self, examples: int) -> int | None:
        """Return the number of examples that fill :data:`SHARE` of what was free, on
        the device that is full first; see :meth:`MemoryMeter.room`.
        """
        sizes: list[int] = []
        for device, counters in self._counters.items():
            usage = counters.max_memory_allocated(device) - self._allocated[device]
            if usage > 0:
                sizes.append(int(SHARE * self._free[device] * examples / usage))
        return min(sizes, default=None)


def memory_meter(devices: Sequence[str]) -> AcceleratorMemory | None:
    """Return the meter of a model on some devices, named as torch names them; None
    where one of them is the CPU, or an accelerator whose memory torch does not count.

    >>> memory_meter(["cpu"]) is None
    True
    """
    import torch

    counters: dict[str, Counters] = {}
    for device in devices:
        kind = torch.device(device).type
        module: Any = getattr(torch, kind, None)
        if kind == "cpu" or not all(hasattr(module, name) for name in _COUNTERS):
            return None
        counters[device] = module
    return AcceleratorMemory(counters) if counters else None
