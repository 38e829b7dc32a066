"""Tiers 1 and 2 of the pre-gen metrics: the selected tokens of a caption, and one
number for each caption.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness_metrics.pregen.tokens import FlatTokens


def _select_tokens(tokens: FlatTokens, tier1: str) -> np.ndarray | None:
    """Return the selected tokens of tier 1, bool ``(T,)``, or None for all."""
    if tier1 == "none":
        return None
    if tier1 == "filter0":
        return ~tokens.top
    if tier1 == "filter0_kept":
        return tokens.top

    # The prefix ends at the first miss of the caption. With a running count of misses
    # over all captions, a token is in it while the count is that before its caption
    # began.
    misses = np.cumsum(~tokens.top)
    starts = tokens.captions[:-1]
    before = misses[starts] - ~tokens.top[starts]
    return misses == np.repeat(before, tokens.lengths)


def score_captions(tokens: FlatTokens, kinds: Sequence[tuple[str, str]]) -> np.ndarray:
    """Return the caption scores ``(len(kinds), C)`` of the (tier2, tier1) kinds."""
    out = np.empty((len(kinds), len(tokens.captions) - 1))
    for tier1 in dict.fromkeys(kind[1] for kind in kinds):
        mask = _select_tokens(tokens, tier1)
        starts = tokens.captions[:-1]
        count = tokens.lengths
        if mask is not None:
            count = np.add.reduceat(mask.astype(np.int64), starts)

        for row, (tier2, selection) in enumerate(kinds):
            if selection == tier1:
                out[row] = _caption_scores(tier2, tokens, mask, count)
    return out


def _caption_scores(
    tier2: str, tokens: FlatTokens, mask: np.ndarray | None, count: np.ndarray
) -> np.ndarray:
    """Return the scores ``(C,)`` of tier 2; ``mask`` ``(T,)`` are the selected tokens,
    ``count`` ``(C,)`` their number.
    """
    if tier2 == "count":
        return count
    if tier2 == "normcount":
        return count / tokens.lengths

    starts = tokens.captions[:-1]
    if tier2 == "prob":
        factors = tokens.probabilities
        if mask is not None:
            # a factor of 1 for other tokens, so that only the selection can underflow
            factors = np.where(mask, factors, 1.0)
        return np.where(count > 0, np.multiply.reduceat(factors, starts), 0.0)

    # In logarithms, since a product of many probabilities underflows; a token that is
    # not selected adds 0.
    logs = tokens.log2 if mask is None else np.where(mask, tokens.log2, 0.0)
    mean = np.add.reduceat(logs, starts) / np.maximum(count, 1)
    return np.where(count > 0, np.exp2(-mean), np.inf)
