"""Training objectives of VLP: prediction of words at [MASK] slots.

``cloze_loss`` is the published objective (Zhou et al. 2020, section 3; UniLM): a few
words of a sentence, possibly the final [SEP], are masked in their slots.
``paired_loss`` predicts every word at once, each at a separate [MASK] beside the
sentence. Captioning and scoring use the same masks, so no slot attends to the [MASK]
of another word in training.

Shapes: ``B`` sentences, ``T`` tokens, ``n`` regions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F

from harness_models.vlp.model import Vlp

IGNORED = -100
"""Target value of padding in the loss."""


@dataclass(frozen=True)
class Sentences:
    """Batch of captions and the regions of their images."""

    tokens: torch.Tensor
    """Token ids (B, T): the caption, [SEP], then [PAD]."""
    lengths: torch.Tensor
    """Number of tokens (B,), [SEP] included."""
    regions: torch.Tensor
    """Region features (B, n, region)."""
    geometry: torch.Tensor
    """Geometry vectors (B, n, geometry)."""

    def rows(self, mask: torch.Tensor) -> Sentences:
        """Return the sentences where ``mask`` (B,) is True."""
        return Sentences(
            *(
                value[mask]
                for value in (self.tokens, self.lengths, self.regions, self.geometry)
            )
        )

    def word_mask(self) -> torch.Tensor:
        """Return a mask (B, T), True at words and [SEP]."""
        return (
            torch.arange(self.tokens.shape[1], device=self.tokens.device)
            < self.lengths[:, None]
        )


def hidden_words(
    is_word: torch.Tensor, lengths: torch.Tensor, share: float, limit: int
) -> torch.Tensor:
    """Draw the words to predict, from torch's global generator.

    Parameters
    ----------
    is_word
        (B, T), True at words and [SEP].
    lengths
        Number of tokens (B,).
    share
        Share of each sentence to predict; at least one word, at most ``limit``.

    Returns
    -------
    torch.Tensor
        (B, T), True at the words to predict.
    """
    counts = (lengths * share).round().clamp(1, limit)
    # The rank of a random number among those of the sentence: exactly `counts` words
    # are hidden, and padding (2.0) ranks last.
    order = torch.rand(is_word.shape).masked_fill(~is_word, 2.0).argsort(1).argsort(1)
    return order < counts[:, None]


def with_masks(
    tokens: torch.Tensor, hidden: torch.Tensor, mask: int, vocabulary: int
) -> torch.Tensor:
    """Return ``tokens`` (B, T) with hidden words replaced by [MASK] (80 %) or a random
    word (10 %), or unchanged (10 %).

    ``hidden`` (B, T) is True at the words to predict, and ``mask`` is the id of [MASK].
    Draws are from torch's global generator.
    """
    draw = torch.rand(tokens.shape)
    random_words = torch.randint(vocabulary, tokens.shape)
    masked = torch.where(hidden & (draw < 0.8), torch.full_like(tokens, mask), tokens)
    return torch.where(hidden & (draw >= 0.9), random_words, masked)


def paired_loss(model: Vlp, batch: Sentences) -> tuple[torch.Tensor, int]:
    """Return the mean loss over every word of every sentence,
    and the number of words.
    """
    logits = model.score_slots(
        batch.tokens, model.context(batch.regions, batch.geometry)
    )
    goal = batch.tokens.masked_fill(~batch.word_mask(), IGNORED)
    return F.cross_entropy(
        logits.flatten(0, 1), goal.flatten(), ignore_index=IGNORED
    ), int(batch.lengths.sum())


def cloze_loss(
    model: Vlp, batch: Sentences, share: float, limit: int, bidirectional: float
) -> tuple[torch.Tensor, int]:
    """Return the mean loss over hidden words, and their number.

    Parameters
    ----------
    share, most
        Share of each sentence to predict, and the largest number of words.
    bidirectional
        Share of sentences in which all slots attend to all slots; in the others a word
        attends to the words before it.
    """
    is_word = batch.word_mask()
    hidden = hidden_words(is_word, batch.lengths, share, limit)
    inputs = with_masks(
        batch.tokens,
        hidden,
        model.sizes.special_ids["[MASK]"],
        model.sizes.bert.vocabulary,
    )
    # Sums over both kinds of sentences are divided once, so that a hidden word has the
    # same weight in either.

    sees_all = torch.rand(len(inputs)) < bidirectional
    losses = []
    kinds = ((~sees_all, model.left_to_right), (sees_all, model.bidirectional))
    for rows, states in kinds:
        if bool(rows.any()):
            selection = batch.rows(rows)
            at = hidden[rows]
            outputs = states(
                inputs[rows],
                selection.word_mask(),
                selection.regions,
                selection.geometry,
            )
            logits = model.cls(outputs[at])
            goal = selection.tokens[at]
            losses.append(F.cross_entropy(logits, goal, reduction="sum"))

    count = int(hidden.sum())
    return torch.stack(losses).sum() / count, count
