"""Games for training: targets, distractors, captions as tokens, and image features.

The distractor is random (RP: any other image of the training pool) or similar (SP: it
shares three randomly selected factors with the target, and the other factors are
random, so at least three are shared). All draws depend on the seed only.

Shapes: ``N`` games, ``M`` images, ``D`` image features, ``B`` games of a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from harness.errors import HarnessError
from harness_models.a3ds.authors import END, MAX_LENGTH, PAD, START, Vocabulary
from harness_models.a3ds.model import Listener, Speaker
from harness_models.shared.training.policy_gradient import (
    chosen_log_probs,
    policy_loss,
    sample_tokens,
    spoken_slots,
)
from harness_tasks.a3ds import pixels, scene

Pairing = Literal["random", "similar"]


class Games(NamedTuple):
    """N games over M images."""

    images: np.ndarray
    """Scene ids (M,)."""
    table: torch.Tensor
    """Image features (M, D) float16, not standardised."""
    targets: np.ndarray
    """Row of each target in the table, (N,)."""
    distractors: np.ndarray
    """Row of each distractor in the table, (N,); never the row of the target."""
    captions: torch.Tensor
    """Token ids (N, 25) of one reference caption of each target: START, words,
    END, PAD.
    """


def draw_games(
    *,
    images: int,
    captions: int,
    pairing: Pairing,
    source: pixels.ImageFeatures,
    seed: int,
    kind: scene.Kind = "exhaustive",
    vocabulary: Vocabulary | None = None,
) -> Games:
    """Return games over random scenes; each caption of each scene is one game.

    Parameters
    ----------
    images
        Number of random scenes.
    captions
        Number of different captions of each scene.
    pairing
        ``random`` or ``similar`` distractors.
    source
        Image features of scenes.
    seed
        Seed of all draws.
    kind
        ``exhaustive`` or ``short`` captions. Short captions with ``there`` are left
        out, because the published vocabulary lacks the word.
    vocabulary
        Words (default: the published ones).

    Raises
    ------
    HarnessError
        If there are not that many scenes or captions.
    """
    usable = range(20) if kind == "exhaustive" else range(11, 27)
    if not 2 <= images <= scene.N_SCENES:
        raise HarnessError(
            f"A3DS training on {images} images: expected 2 to {scene.N_SCENES}"
        )
    if not 1 <= captions <= len(usable):
        raise HarnessError(
            f"A3DS training with {captions} {kind} captions an image: "
            f"expected 1 to {len(usable)}"
        )
    random = np.random.default_rng([seed, 0xA3D5])
    pool = np.sort(random.choice(scene.N_SCENES, images, replace=False))
    targets = np.repeat(pool, captions)
    texts: list[str] = []
    for all_captions in scene.caption_sets(pool, kind):
        texts.extend(
            all_captions[k] for k in random.choice(usable, captions, replace=False)
        )
    distractors = (
        similar_scenes(targets, random)
        if pairing == "similar"
        else _others(targets, pool, random)
    )
    scenes = np.unique(np.concatenate([pool, distractors]))
    table = torch.from_numpy(source.features(scenes).astype(np.float16))
    return Games(
        scenes,
        table,
        np.searchsorted(scenes, targets),
        np.searchsorted(scenes, distractors),
        encode(texts, vocabulary),
    )


def _others(
    targets: np.ndarray, pool: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Return a random other scene of the pool for each target (N,)."""
    step = random.integers(1, len(pool), len(targets))
    return pool[(np.searchsorted(pool, targets) + step) % len(pool)]


def similar_scenes(
    targets: np.ndarray, random: np.random.Generator, shared: int = 3
) -> np.ndarray:
    """Return ids (N,) of scenes that share at least ``shared`` factors with the targets
    (N,) and differ in at least one.
    """
    values = scene.indices(targets)
    out = np.array(targets)
    left = np.arange(len(targets))
    while len(left):
        fixed = random.random((len(left), 6)).argsort(1) < shared
        drawn = (random.random((len(left), 6)) * np.array(scene.SIZES)).astype(np.int64)
        out[left] = np.where(fixed, values[left], drawn) @ np.array(scene.STRIDES)
        left = left[out[left] == targets[left]]
    return out


def encode(texts: list[str], vocabulary: Vocabulary | None = None) -> torch.Tensor:
    """Return token ids (N, 25) of captions, padded with PAD;
    longer captions are cut.
    """
    vocabulary = vocabulary or Vocabulary()
    tokens = np.full((len(texts), MAX_LENGTH), PAD, dtype=np.int64)
    for row, text in enumerate(texts):
        ids = vocabulary.encode(text, MAX_LENGTH)
        tokens[row, : len(ids)] = ids
    return torch.from_numpy(tokens)


def batches(
    games: Games, size: int, random: np.random.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield image features (B, 2, D) float32 and captions (B, 25) of all games in a
    random order, ``size`` games at a time.
    """
    order = random.permutation(len(games.targets))
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        pairs = np.stack([games.targets[rows], games.distractors[rows]], axis=1)
        yield (
            games.table[torch.from_numpy(pairs)].float(),
            games.captions[torch.from_numpy(rows)],
        )


# --------------------------------------------------------------------------- losses
# Losses of the agents: structural and functional loss of the speaker, cross-entropy of
# the listener.
#
# Shapes: ``B`` games, ``D`` image features, ``T`` tokens of a message (24 at the
# published length), ``V`` words.


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
    choice = torch.multinomial(scores.detach().softmax(-1), 1, generator=generator)[
        :, 0
    ]
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
