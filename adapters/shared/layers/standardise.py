"""Inputs standardised over the training set, without a trace in the checkpoint: the shift and the scale go into the first Linear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Standard:
    """(x - mean) / deviation, both (width,) float32. A number that never varies is shifted only."""

    mean: torch.Tensor
    deviation: torch.Tensor

    @classmethod
    def of(cls, rows: np.ndarray) -> Standard:
        """Of rows (N, width)."""
        exact = torch.from_numpy(np.ascontiguousarray(rows)).double()
        deviation = exact.std(0, correction=0)
        return cls(exact.mean(0).float(), deviation.where(deviation > 1e-4, 1.0).float())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) / self.deviation

    def into(self, tensors: dict[str, torch.Tensor], linear: str) -> dict[str, torch.Tensor]:
        """``tensors`` where the Linear called ``linear`` takes inputs as they stand."""
        weight, bias = tensors[f"{linear}.weight"].double() / self.deviation.double(), tensors[f"{linear}.bias"]
        moved = bias.double() - weight @ self.mean.double()
        return {**tensors, f"{linear}.weight": weight.to(bias.dtype), f"{linear}.bias": moved.to(bias.dtype)}
