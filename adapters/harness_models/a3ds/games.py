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

from harness.errors import HarnessError
from harness_models.a3ds.vocabulary import MAX_LENGTH, PAD, Vocabulary
from harness_tasks.a3ds import grammar, scene
from harness_tasks.a3ds.image_features import ImageFeatures

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
    source: ImageFeatures,
    seed: int,
    kind: grammar.Kind = "exhaustive",
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
    for all_captions in grammar.caption_sets(pool, kind):
        texts.extend(
            all_captions[k] for k in random.choice(usable, captions, replace=False)
        )

    if pairing == "similar":
        distractors = similar_scenes(targets, random)
    else:
        distractors = _others(targets, pool, random)

    # Features of each scene are computed once, however many games it is in.
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
