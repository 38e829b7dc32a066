"""What the agents learn from: structural and functional losses of the speaker, cross-entropy of the listener.

``B`` games, ``T`` message tokens (24 at the published length), ``V`` words.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional

from harness.adapters.a3ds.model import Listener, Speaker
from harness.adapters.a3ds.vocabulary import END, PAD, START


class Played(NamedTuple):
    """Losses and outcomes of a batch of games."""

    speaker: torch.Tensor
    listener: torch.Tensor
    structural: float
    functional: float
    entropy: float
    accuracy: float
    length: float


def sample_messages(speaker: Speaker, features: torch.Tensor, length: int, generator: torch.Generator) -> torch.Tensor:
    """(B, T) tokens drawn from the speaker (temperature 1); after END only PAD. No gradient."""
    with torch.no_grad():
        step = speaker.step()
        state = step.start(features)
        last = torch.full((len(features),), START)
        ended = torch.zeros(len(features), dtype=torch.bool)
        out = torch.full((len(features), length), PAD)
        for position in range(length):
            logits, state = step(last, state)
            last = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]
            out[:, position] = torch.where(ended, PAD, last)
            ended |= last == END
            if bool(ended.all()):
                break
    return out


def shifted(tokens: torch.Tensor) -> torch.Tensor:
    """START and all but the last of ``tokens`` (B, T): what the speaker reads to predict them."""
    return torch.cat([torch.full((len(tokens), 1), START), tokens[:, :-1]], dim=1)


def structural_loss(
    speaker: Speaker, features: torch.Tensor, captions: torch.Tensor, own: torch.Tensor | None
) -> torch.Tensor:
    """Mean cross-entropy over all slots (PAD counted) of captions (B, T + 1), START first; the speaker reads the caption itself
    or, where given, its ``own`` sample (B, T)."""
    read = captions[:, :-1] if own is None else shifted(own)
    return functional.cross_entropy(speaker(features, read).transpose(1, 2), captions[:, 1:])


def play(
    speaker: Speaker,
    listener: Listener,
    features: torch.Tensor,
    captions: torch.Tensor,
    generator: torch.Generator,
    *,
    structural_weight: float = 0.75,
    entropy_weight: float = 0.1,
) -> Played:
    """One batch of the reference game (Lazaridou et al. 2020; Tsvilodub & Franke 2023, section 3).

    The speaker's loss is ``w S + (1 - w) F``: S is the cross-entropy of the logits along its own sample against the reference, F is
    REINFORCE, minus the reward (+1 where the listener picks the target, else -1) times the message's log-probability, minus the
    entropy weight times the entropy of the word distributions. Log-probability and entropy are averaged over the tokens up to
    END, so that S and F are both per slot. The listener's choice is drawn from its softmax; its loss is cross-entropy.
    """
    messages = sample_messages(speaker, features, captions.shape[1] - 1, generator)
    logits = speaker(features, shifted(messages))
    structural = functional.cross_entropy(logits.transpose(1, 2), captions[:, 1:])
    spoken = ((messages == END).cumsum(1) - (messages == END).long()) == 0  # up to END, itself counted
    tokens = spoken.sum(1)
    log_probs = logits.log_softmax(-1)
    log_message = (log_probs.gather(-1, messages[..., None])[..., 0] * spoken).sum(1) / tokens
    entropy = ((-(log_probs.exp() * log_probs).sum(-1)) * spoken).sum(1) / tokens

    scores = listener(features, messages)
    choice = torch.multinomial(scores.detach().softmax(-1), 1, generator=generator)[:, 0]
    reward = torch.where(choice == 0, 1.0, -1.0)
    functional_loss = -(reward * log_message).mean() - entropy_weight * entropy.mean()
    return Played(
        structural_weight * structural + (1 - structural_weight) * functional_loss,
        functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long)),
        structural.item(),
        functional_loss.item(),
        entropy.mean().item(),
        (scores.argmax(-1) == 0).float().mean().item(),
        tokens.float().mean().item(),
    )
