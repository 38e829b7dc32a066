"""Losses of the agents: structural and functional loss of the speaker, cross-entropy of
the listener.

Shapes: ``B`` games, ``D`` image features, ``T`` tokens of a message (24 at the
published length), ``V`` words.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional

from harness_models.a3ds.model import Listener, Speaker
from harness_models.a3ds.vocabulary import END, PAD, START
from harness_models.shared.training.policy_gradient import (
    chosen_log_probs,
    policy_loss,
    sample_tokens,
    spoken_slots,
)


class Played(NamedTuple):
    """Losses and outcomes of a batch of games."""

    speaker: torch.Tensor
    """Loss of the speaker, with gradient."""
    listener: torch.Tensor
    """Loss of the listener, with gradient."""
    structural: float
    """Structural loss."""
    functional: float
    """Functional loss, with the entropy term."""
    entropy: float
    """Mean entropy of the word distributions, in nats."""
    accuracy: float
    """Share of games in which the listener's best image is the target."""
    length: float
    """Mean number of tokens of a message, END counted."""


def sample_messages(
    speaker: Speaker, features: torch.Tensor, length: int, generator: torch.Generator
) -> torch.Tensor:
    """Return messages (B, T) drawn from the speaker at temperature 1, without gradient.

    Parameters
    ----------
    speaker
        Speaker.
    features
        Image features (B, 2, D), target first.
    length
        Number of tokens T; tokens after END are PAD.
    generator
        Source of random numbers.
    """
    step = speaker.step()
    start = torch.full((len(features),), START)
    return sample_tokens(
        step,
        step.start(features),
        start,
        len(features),
        length,
        stop=(END,),
        fill=PAD,
        generator=generator,
    )


def shift_right(tokens: torch.Tensor) -> torch.Tensor:
    """Return the speaker's inputs (B, T) for the prediction of ``tokens`` (B, T): START
    and all tokens but the last.

    >>> shift_right(torch.tensor([[7, 8, 1]])).tolist()
    [[0, 7, 8]]
    """
    return torch.cat([torch.full((len(tokens), 1), START), tokens[:, :-1]], dim=1)


def structural_loss(
    speaker: Speaker,
    features: torch.Tensor,
    captions: torch.Tensor,
    sample: torch.Tensor | None,
) -> torch.Tensor:
    """Return the mean cross-entropy over all slots of the captions, PAD counted.

    Parameters
    ----------
    speaker
        Speaker.
    features
        Image features (B, 2, D), target first.
    captions
        Token ids (B, T + 1) of the references, START first.
    sample
        A sample (B, T) of the speaker that it reads instead of the caption, or None.
    """
    inputs = captions[:, :-1] if sample is None else shift_right(sample)
    return functional.cross_entropy(
        speaker(features, inputs).transpose(1, 2), captions[:, 1:]
    )


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
    """Play one batch of the reference game and return its losses.

    The speaker's loss is ``w S + (1 - w) F``. S is the cross-entropy of the logits
    along the speaker's sample against the reference. F is the REINFORCE loss: minus the
    reward (+1 if the listener picks the target, else -1) times the log-probability of
    the message, minus the entropy weight times the entropy of the word distributions.
    Log-probability and entropy are averaged over the tokens up to END, so S and F are
    both per slot. The listener's choice is drawn from its softmax, and its loss is
    cross-entropy.

    Parameters
    ----------
    speaker, listener
        The agents.
    features
        Image features (B, 2, D), target first.
    captions
        Token ids (B, T + 1) of the references, START first.
    generator
        Source of random numbers.
    structural_weight
        The weight w, in [0, 1].
    entropy_weight
        Weight of the entropy.

    References
    ----------
    Lazaridou, Potapenko and Tieleman 2020; Tsvilodub and Franke 2023, section 3.
    """
    messages = sample_messages(speaker, features, captions.shape[1] - 1, generator)
    logits = speaker(features, shift_right(messages))
    structural = functional.cross_entropy(logits.transpose(1, 2), captions[:, 1:])

    spoken = spoken_slots(messages, (END,))
    tokens = spoken.sum(1)
    # Means over a message's own tokens: with sums, the reward of a long message would
    # outweigh that of a short one.
    log_probs = logits.log_softmax(-1)
    log_message = chosen_log_probs(log_probs, messages, spoken) / tokens
    entropy = ((-(log_probs.exp() * log_probs).sum(-1)) * spoken).sum(1) / tokens

    # The target is image 0. The choice is drawn from detached scores: the reward is a
    # number for the speaker, and the listener learns by its own cross-entropy from the
    # same scores.
    scores = listener(features, messages).float()
    chances = scores.detach().softmax(-1)
    choice = torch.multinomial(chances, 1, generator=generator)[:, 0]
    reward = torch.where(choice == 0, 1.0, -1.0)
    functional_loss = policy_loss(reward, log_message) - entropy_weight * entropy.mean()

    return Played(
        structural_weight * structural + (1 - structural_weight) * functional_loss,
        functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long)),
        structural.item(),
        functional_loss.item(),
        entropy.mean().item(),
        (scores.argmax(-1) == 0).float().mean().item(),
        tokens.float().mean().item(),
    )
