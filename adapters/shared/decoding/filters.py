"""From logits to a drawn token: temperature, then top-k, then top-p, then inverse-CDF sampling in float64.

The uniform numbers are counter-based: one stream per (example seed, candidate index), so that a caption is the same whatever
else is in the batch, and the set of n + 1 candidates is the set of n plus one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from harness.adapters.shared.decoding.types import rows_at_once
from harness.contracts import Decoding
from harness.errors import HarnessError


def check_filters(decoding: Decoding) -> None:
    """Raise :class:`HarnessError` for a temperature, top-k or top-p that means nothing."""
    if not np.isfinite(decoding.temperature) or decoding.temperature <= 0:
        raise HarnessError(
            f"decoding: temperature must be a number above 0, found {decoding.temperature}; "
            "for the limit of 0 use strategy: greedy"
        )
    if decoding.top_p is not None and not 0 < decoding.top_p <= 1:
        raise HarnessError(f"decoding: top_p must be above 0 and at most 1, found {decoding.top_p}")
    if decoding.top_k is not None and decoding.top_k < 1:
        raise HarnessError(f"decoding: top_k must be at least 1, found {decoding.top_k}")


def uniforms(seeds: Sequence[int], candidates: int, length: int) -> np.ndarray:
    """(E, candidates, length) float64 in [0, 1): entry (e, c, t) depends on seed e, c and t alone (Philox, key = seed and c)."""
    out = np.empty((len(seeds), candidates, length))
    for e, seed in enumerate(seeds):
        for c in range(candidates):
            key = np.array([int(seed) & (2**64 - 1), c], dtype=np.uint64)
            out[e, c] = np.random.Generator(np.random.Philox(key=key)).random(length)
    return out


def kept_probabilities(
    logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """What remains of each row of ``logits`` (R, V): probabilities (R, M) float64, not renormalised, 0 where a token is filtered
    out, and the token ids (R, M), ascending.

    Top-k keeps every token that ties with the k-th (as transformers does); top-p keeps the smallest set, most likely first and
    ties by smaller id, whose share of what top-k left reaches ``top_p``. Both choices depend on the row alone.
    """
    rows, size = logits.shape
    if top_k is not None and top_k < size:
        values, ids = logits.topk(top_k + 1, dim=-1)  # one more than wanted shows whether others tie with the last
        threshold = values[:, top_k - 1 : top_k]
        if bool((values[:, top_k:] == threshold).any()):
            values, ids = logits.topk(int((logits >= threshold).sum(-1).max()), dim=-1)
        ids, order = ids.sort(dim=-1)
        values = values.gather(-1, order)
        values = values.masked_fill(values < threshold, float("-inf"))
    else:
        values, ids = logits, torch.arange(size, device=logits.device).expand(rows, size)
    scaled = values.double()
    scaled = (scaled - scaled.amax(dim=-1, keepdim=True)) / temperature
    mass = scaled.exp()
    if top_p is not None and top_p < 1:
        mass = torch.where(_nucleus(mass, top_p), mass, mass.new_zeros(()))
    return mass, ids


def _nucleus(mass: torch.Tensor, top_p: float) -> torch.Tensor:
    """(R, M) bool: the smallest set of most likely entries with share >= top_p; sorts no more than it must."""
    goal = mass.sum(-1, keepdim=True) * top_p
    size, width = mass.shape[-1], 256
    while width < size:  # most nuclei lie within a few hundred tokens: look there before sorting a whole vocabulary
        top, ids = mass.topk(width, dim=-1)
        ends_inside = (top.cumsum(-1)[:, -2:-1] >= goal) & (top[:, -2:-1] > top[:, -1:])
        if bool(ends_inside.all()):  # every tie of its last member is among the `width` as well
            ids, order = ids.sort(dim=-1)
            inside = _nucleus_sorted(top.gather(-1, order), goal)
            return torch.zeros_like(mass, dtype=torch.bool).scatter_(-1, ids, inside)
        width *= 8
    return _nucleus_sorted(mass, goal)


def _nucleus_sorted(mass: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
    ordered, order = mass.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    inside = before < goal
    inside[:, 0] = True
    return torch.zeros_like(mass, dtype=torch.bool).scatter_(-1, order, inside)


def draw(logits: torch.Tensor, uniform: torch.Tensor, decoding: Decoding) -> torch.Tensor:
    """(R,) token ids drawn from the filtered, tempered rows of ``logits`` (R, V) by inverting their CDF at ``uniform`` (R,)."""
    chunk = rows_at_once(logits)
    parts = []
    for start in range(0, len(logits), chunk):
        mass, ids = kept_probabilities(
            logits[start : start + chunk], decoding.temperature, decoding.top_k, decoding.top_p
        )
        cdf = mass.cumsum(-1)
        goal = uniform[start : start + chunk, None] * cdf[:, -1:]
        index = torch.searchsorted(cdf, goal, right=True)
        last = (cdf < cdf[:, -1:]).sum(-1, keepdim=True)  # the last entry with any mass: guards u x total rounding up
        parts.append(ids.gather(-1, torch.minimum(index, last))[:, 0])
    return torch.cat(parts)
