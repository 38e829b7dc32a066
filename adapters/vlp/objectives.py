"""What VLP is trained by: words to guess at [MASK] slots.

``cloze`` is the published objective (Zhou et al. 2020, section 3; UniLM): a few words of a sentence, the final [SEP] among them, are
hidden in their own slots. ``paired`` asks for every word at once, each at a [MASK] of its own beside the sentence: what captioning
and scoring do, so that nothing in training looks at a [MASK] of another word.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F

from harness.adapters.vlp.model import Vlp

IGNORED = -100


@dataclass(frozen=True)
class Sentences:
    """A batch."""

    tokens: torch.Tensor
    """(B, T) ids, [SEP] last, [PAD] behind it."""
    lengths: torch.Tensor
    """(B,), [SEP] counted."""
    regions: torch.Tensor
    geometry: torch.Tensor

    def rows(self, chosen: torch.Tensor) -> Sentences:
        return Sentences(*(value[chosen] for value in (self.tokens, self.lengths, self.regions, self.geometry)))

    def inside(self) -> torch.Tensor:
        """(B, T), True at words and [SEP]."""
        return torch.arange(self.tokens.shape[1], device=self.tokens.device) < self.lengths[:, None]


def hidden_words(inside: torch.Tensor, lengths: torch.Tensor, share: float, most: int) -> torch.Tensor:
    """(B, T), True at the words to guess: ``share`` of each sentence, at least one, at most ``most``; drawn from torch's generator."""
    wanted = (lengths * share).round().clamp(1, most)
    order = torch.rand(inside.shape).masked_fill(~inside, 2.0).argsort(1).argsort(1)
    return order < wanted[:, None]


def with_masks(tokens: torch.Tensor, hidden: torch.Tensor, mask: int, vocabulary: int) -> torch.Tensor:
    """``tokens`` where a hidden word is [MASK] (80 %), any word (10 %), or itself (10 %)."""
    draw = torch.rand(tokens.shape)
    anything = torch.randint(vocabulary, tokens.shape)
    given = torch.where(hidden & (draw < 0.8), torch.full_like(tokens, mask), tokens)
    return torch.where(hidden & (draw >= 0.9), anything, given)


def paired(model: Vlp, batch: Sentences) -> tuple[torch.Tensor, int]:
    """(mean loss, words) over every word of every sentence."""
    logits = model.score_slots(batch.tokens, model.context(batch.regions, batch.geometry))
    goal = batch.tokens.masked_fill(~batch.inside(), IGNORED)
    return F.cross_entropy(logits.flatten(0, 1), goal.flatten(), ignore_index=IGNORED), int(batch.lengths.sum())


def cloze(model: Vlp, batch: Sentences, share: float, most: int, bidirectional: float) -> tuple[torch.Tensor, int]:
    """(mean loss, words) over hidden words; ``bidirectional``: share of sentences in which everything sees everything."""
    inside = batch.inside()
    hidden = hidden_words(inside, batch.lengths, share, most)
    given = with_masks(batch.tokens, hidden, model.sizes.special_ids["[MASK]"], model.sizes.bert.vocabulary)
    both = torch.rand(len(given)) < bidirectional
    losses = []
    for chosen, states in ((~both, model.left_to_right), (both, model.bidirectional)):
        if bool(chosen.any()):
            part = batch.rows(chosen)
            at = hidden[chosen]
            found = states(given[chosen], part.inside(), part.regions, part.geometry)
            losses.append(F.cross_entropy(model.cls(found[at]), part.tokens[at], reduction="sum"))
    count = int(hidden.sum())
    return torch.stack(losses).sum() / count, count
