"""Choice of caption lengths: the most likely ones, or draws with per-example random
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.filters import draw

SHORTEST = 4
"""Smallest number of words of a caption in the authors' code."""


def most_likely_lengths(
    log_probs: torch.Tensor, count: int, max_len: int, shortest: int = SHORTEST
) -> torch.Tensor:
    """Return the most likely lengths (E, count), most likely first.

    Lengths are clamped to [shortest, max_len - 1], so some can be equal.

    Parameters
    ----------
    log_probs
        Log-probabilities (E, max_len) of the number of words.
    count
        Number of lengths per example, reduced to the number of columns of
        ``log_probs``.

    Examples
    --------
    >>> most_likely_lengths(
    ...     torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log(), 3, max_len=4, shortest=2
    ... ).tolist()
    [[3, 2, 2]]
    """
    count = min(count, log_probs.shape[1])
    return log_probs.topk(count, dim=1).indices.clamp(
        min(shortest, max_len - 1), max_len - 1
    )


def sampled_lengths(
    log_probs: torch.Tensor,
    uniforms: np.ndarray,
    temperature: float,
    shortest: int,
    longest: int,
) -> torch.Tensor:
    """Return lengths (E, n) drawn from softmax(log_probs / temperature),
    clamped to [shortest, longest].

    Parameters
    ----------
    log_probs
        Log-probabilities (E, max_len) of the number of words.
    uniforms
        Uniform numbers (E, n) in [0, 1).
    """
    rows = log_probs.repeat_interleave(uniforms.shape[1], 0)
    flat = torch.from_numpy(np.ascontiguousarray(uniforms.reshape(-1))).to(rows.device)
    lengths = draw(rows, flat, Decoding("sample", temperature))
    return lengths.clamp(min(shortest, longest), longest).reshape(uniforms.shape)


def length_temperature(options: Mapping[str, Any]) -> float:
    """Return ``options.length_temperature`` (default 1); raise :class:`HarnessError` if
    it is not a number above 0.
    """
    temperature = options.get("length_temperature", 1.0)
    if (
        isinstance(temperature, bool)
        or not isinstance(temperature, (int, float))
        or not 0 < temperature < float("inf")
    ):
        raise HarnessError(
            "decoding: options.length_temperature must be a number above 0, "
            f"found {temperature!r}"
        )
    return float(temperature)
