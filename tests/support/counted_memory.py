"""A device that counts memory as ``torch.cuda`` does, and runs out of it."""

from __future__ import annotations


class CountedMemory:
    """Memory in bytes of one device.

    Parameters
    ----------
    total
        Memory of the device.
    weights
        Memory of a model that stays on it.
    others
        Memory of other processes.
    """

    def __init__(self, total: int, weights: int, others: int = 0) -> None:
        self.total = total
        self.others = others
        self.allocated = weights
        self.reserved = weights
        self.peak = weights

    def compute(self, taken: int) -> None:
        """Allocate memory for tensors, and free it.

        Raises RuntimeError, with the words of torch, for more than is free.
        """
        highest = self.allocated + taken
        if highest > self.total - self.others:
            raise RuntimeError("CUDA out of memory. Tried to allocate more")
        self.peak = max(self.peak, highest)
        self.reserved = max(self.reserved, highest)

    def memory_allocated(self, device: str) -> int:
        return self.allocated

    def max_memory_allocated(self, device: str) -> int:
        return self.peak

    def memory_reserved(self, device: str) -> int:
        return self.reserved

    def mem_get_info(self, device: str) -> tuple[int, int]:
        return self.total - self.others - self.reserved, self.total

    def reset_peak_memory_stats(self, device: str) -> None:
        self.peak = self.allocated
