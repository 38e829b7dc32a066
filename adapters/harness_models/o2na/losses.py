"""Losses of the training on videos."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from harness_models.o2na.layers import MASK, PAD
from harness_models.o2na.network import VideoNetwork
from harness_models.o2na.video_training import Batch
from harness_models.shared.training.caption_tokens import IGNORED


def cross_entropy(logits: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of logits (B, T,
    V) over the slots of ``goal`` (B, T) that are not ignored.

    The result is 0 if all slots are ignored.
    """
    flat = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        goal.reshape(-1),
        ignore_index=IGNORED,
        reduction="sum",
    )
    return flat / (goal != IGNORED).sum().clamp(min=1)


def masked_words_loss(model: VideoNetwork, batch: Batch) -> tuple[torch.Tensor, int]:
    """Return the mean loss of masked words, predicted from the others,
    and their number.

    In each caption a random number of words, at least one, is masked at random
    positions. Draws are from torch's global generator.
    """
    tokens = batch.tokens
    real = batch.tokens != PAD
    # The number of hidden words is uniform, as at the passes of the decoding, which
    # starts with all words hidden and ends with few.
    lengths = real.sum(1, keepdim=True)
    count = 1 + (torch.rand(len(tokens), 1) * lengths).long().clamp(max=lengths - 1)
    order = torch.rand(tokens.shape).masked_fill(~real, 2.0).argsort(1).argsort(1)
    hidden = (order < count) & real

    logits = model.logits(tokens.masked_fill(hidden, MASK), batch.encoded)
    loss = cross_entropy(logits, tokens.masked_fill(~hidden, IGNORED))
    return loss, int(hidden.sum())
