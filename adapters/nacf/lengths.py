"""Lengths and words drawn with per-example seeds: one stream of uniform numbers per (example, candidate), a fixed place in it for each
decision, so that a caption does not depend on what else is in the batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from harness.adapters.nacf.iterative_refinement import Pick
from harness.adapters.shared.decoding.filters import draw
from harness.contracts import Decoding
from harness.errors import HarnessError


def length_temperature(options: Mapping[str, Any]) -> float:
    """``options.length_temperature`` (default 1); raises :class:`HarnessError` when it is not above 0."""
    temperature = options.get("length_temperature", 1.0)
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not 0 < temperature < float("inf"):
        raise HarnessError(f"decoding: options.length_temperature must be a number above 0, found {temperature!r}")
    return float(temperature)


def drawn_lengths(
    log_probs: torch.Tensor, numbers: np.ndarray, temperature: float, shortest: int, longest: int
) -> torch.Tensor:
    """(E, n) lengths drawn from softmax(log_probs / temperature) (E, max_len) with uniform numbers (E, n), held to the bounds."""
    rows = log_probs.repeat_interleave(numbers.shape[1], 0)
    uniform = torch.from_numpy(np.ascontiguousarray(numbers.reshape(-1))).to(rows.device)
    drawn = draw(rows, uniform, Decoding("sample", temperature))
    return drawn.clamp(min(shortest, longest), longest).reshape(numbers.shape)


def picker(numbers: np.ndarray, slots: int, decoding: Decoding, device: torch.device) -> Pick:
    """Draws the words of pass p with the numbers (E, n, passes x slots), slots p x slots onwards."""
    flat = torch.from_numpy(np.ascontiguousarray(numbers.reshape(-1, numbers.shape[2]))).to(device)

    def pick(logits: torch.Tensor, turn: int) -> torch.Tensor:
        rows, width, _ = logits.shape
        uniform = flat[:, turn * slots : turn * slots + width].reshape(-1)
        return draw(logits.reshape(rows * width, -1), uniform, decoding).reshape(rows, width)

    return pick
