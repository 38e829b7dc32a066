"""Sampling of a token from logits: temperature, top-k, top-p, further truncation, then
inversion of the CDF in float64.

Random numbers are counter-based: each (example seed, candidate index) has its own
stream. A caption therefore does not depend on the other examples of a batch, and the
set of n + 1 candidates is the set of n candidates plus one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.logits import rows_at_once
from harness_models.shared.decoding.truncation import check_truncation, truncate


def check_filters(decoding: Decoding) -> None:
    """Raise :class:`HarnessError` for a temperature, top-k,
    top-p or further truncation out of range.
    """
    if not np.isfinite(decoding.temperature) or decoding.temperature <= 0:
        raise HarnessError(
            "decoding: temperature must be a number above 0, "
            f"found {decoding.temperature}; for the limit of 0 use strategy: greedy"
        )

    if decoding.top_p is not None and not 0 < decoding.top_p <= 1:
        raise HarnessError(
            f"decoding: top_p must be above 0 and at most 1, found {decoding.top_p}"
        )

    if decoding.top_k is not None and decoding.top_k < 1:
        raise HarnessError(
            f"decoding: top_k must be at least 1, found {decoding.top_k}"
        )
    check_truncation(decoding)


def uniforms(seeds: Sequence[int], candidates: int, length: int) -> np.ndarray:
    """Return uniform random numbers in [0, 1), shape (E, candidates, length), float64.

    Entry (e, c, t) depends on ``seeds[e]``, c and t only: the generator is Philox with
    the key (seed, c).

    >>> bool((uniforms([7], 2, 3) == uniforms([5, 7], 4, 9)[1:, :2, :3]).all())
    True
    """
    out = np.empty((len(seeds), candidates, length))
    for e, seed in enumerate(seeds):
        for c in range(candidates):
            key = np.array([int(seed) & (2**64 - 1), c], dtype=np.uint64)
            out[e, c] = np.random.Generator(np.random.Philox(key=key)).random(length)
    return out


def filtered_probabilities(
    logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the probabilities that remain after temperature, top-k and top-p.

    The result for a row depends on that row only.

    Parameters
    ----------
    logits
        Logits, shape (R, V).
    temperature
        Divisor of the logits, above 0.
    top_k
        Number of most likely tokens that remain; tokens that tie with the k-th remain
        too (as in transformers). None: all.
    top_p
        Share of the probability left by top-k: the smallest set of most likely tokens
        that reaches it remains; of equally likely tokens the smaller id comes first.
        None: all.

    Returns
    -------
    tuple of torch.Tensor
        Probabilities (R, M), float64, not normalised, 0 for a removed token; and token
        ids (R, M), ascending.

    Examples
    --------
    >>> probabilities, ids = filtered_probabilities(
    ...     torch.tensor([[0.0, 3.0, 3.0, 1.0]]), 1.0, 2, None
    ... )
    >>> ids[probabilities > 0].tolist()
    [1, 2]
    """
    rows, size = logits.shape
    if top_k is not None and top_k < size:
        # entry k + 1 shows if other tokens tie with the k-th
        values, ids = logits.topk(top_k + 1, dim=-1)
        threshold = values[:, top_k - 1 : top_k]
        if bool((values[:, top_k:] == threshold).any()):
            values, ids = logits.topk(int((logits >= threshold).sum(-1).max()), dim=-1)
        ids, order = ids.sort(dim=-1)
        values = values.gather(-1, order)
        values = values.masked_fill(values < threshold, float("-inf"))
    else:
        values = logits
        ids = torch.arange(size, device=logits.device).expand(rows, size)

    # float64, and the maximum subtracted: at low temperatures the exponents are large,
    # and a token must not be lost to rounding.
    scaled = values.double()
    scaled = (scaled - scaled.amax(dim=-1, keepdim=True)) / temperature
    mass = scaled.exp()

    if top_p is not None and top_p < 1:
        mass = torch.where(_nucleus(mass, top_p), mass, mass.new_zeros(()))
    return mass, ids


def _nucleus(mass: torch.Tensor, top_p: float) -> torch.Tensor:
    """Return the mask (R, M) of the smallest set of largest entries whose share of
    ``mass`` (R, M) is at least ``top_p``.

    Most nuclei lie within a few hundred tokens, so the largest entries are searched
    before a whole vocabulary is sorted.
    """
    # The mass is not normalised, so the goal is a share of its own sum; that saves a
    # division of the whole vocabulary.
    goal = mass.sum(-1, keepdim=True) * top_p
    size = mass.shape[-1]

    # Most nuclei are small: a wider prefix is sorted only where a narrow one does not
    # hold them.
    width = 256
    while width < size:
        top, ids = mass.topk(width, dim=-1)
        ends_inside = (top.cumsum(-1)[:, -2:-1] >= goal) & (top[:, -2:-1] > top[:, -1:])
        # all entries that tie with the last member are among the `width` largest
        if bool(ends_inside.all()):
            ids, order = ids.sort(dim=-1)
            in_nucleus = _sort_nucleus(top.gather(-1, order), goal)
            return torch.zeros_like(mass, dtype=torch.bool).scatter_(
                -1, ids, in_nucleus
            )
        width *= 8
    return _sort_nucleus(mass, goal)


def _sort_nucleus(mass: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
    """Return the mask (R, M) of the largest entries, in stable order,
    until their sum reaches ``goal`` (R, 1).
    """
    ordered, order = mass.sort(dim=-1, descending=True, stable=True)
    # A token belongs to the nucleus if the tokens before it do not reach the goal: the
    # one that crosses it is part of the set.
    before = ordered.cumsum(-1) - ordered
    in_nucleus = before < goal
    in_nucleus[:, 0] = True
    return torch.zeros_like(mass, dtype=torch.bool).scatter_(-1, order, in_nucleus)


def draw(
    logits: torch.Tensor, uniform: torch.Tensor, decoding: Decoding
) -> torch.Tensor:
    """Return one token id per row, shape (R,), drawn by inversion of the CDF of
    :func:`filtered_probabilities`.

    Parameters
    ----------
    logits
        Logits, shape (R, V).
    uniform
        Random numbers in [0, 1), shape (R,), float64.
    decoding
        Settings; ``temperature``, ``top_k``, ``top_p`` and the rules of
        :mod:`harness_models.shared.decoding.filters` are used.
    """
    chunk = rows_at_once(logits)
    drawn_ids = []
    for start in range(0, len(logits), chunk):
        mass, ids = filtered_probabilities(
            logits[start : start + chunk],
            decoding.temperature,
            decoding.top_k,
            decoding.top_p,
        )
        # Inversion of the CDF: a token takes exactly one number, its own, so that a
        # caption does not depend on the rows beside it. The mass is not normalised; the
        # number is stretched to its sum instead.
        cdf = truncate(mass, decoding).cumsum(-1)
        goal = uniform[start : start + chunk, None] * cdf[:, -1:]
        index = torch.searchsorted(cdf, goal, right=True)
        # last entry with mass; `goal` may round up to the total
        last = (cdf < cdf[:, -1:]).sum(-1, keepdim=True)
        drawn_ids.append(ids.gather(-1, torch.minimum(index, last))[:, 0])
    return torch.cat(drawn_ids)
