"""The games that the agents train on: targets, distractors, captions as tokens, image features computed once.

Pairs are random (RP: any other image of the training pool) or similar (SP: three factors, drawn for each pair, are the target's and
the others are drawn anew, so that at least three are shared). Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch

from harness.adapters.a3ds.vocabulary import MAX_LENGTH, PAD, Vocabulary
from harness.errors import HarnessError
from harness.tasks.a3ds import pixels, scene

Pairing = Literal["random", "similar"]


class Games(NamedTuple):
    """N games over M images."""

    images: np.ndarray
    """(M,) scene ids."""
    table: torch.Tensor
    """(M, D) float16 image features, as they come from the network."""
    targets: np.ndarray
    """(N,) rows of the table."""
    distractors: np.ndarray
    """(N,) rows of the table, never the target's."""
    captions: torch.Tensor
    """(N, 25) token ids of one reference caption of each target: START, words, END, PAD."""


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
    """``images`` random scenes with ``captions`` different captions of a ``kind`` each, every one a game of its own.

    Of the short captions those with ``there`` are left out: the published vocabulary lacks the word.
    """
    known = range(20) if kind == "exhaustive" else range(11, 27)
    if not 2 <= images <= scene.N_SCENES:
        raise HarnessError(f"A3DS training on {images} images: expected 2 to {scene.N_SCENES}")
    if not 1 <= captions <= len(known):
        raise HarnessError(f"A3DS training with {captions} {kind} captions an image: expected 1 to {len(known)}")
    random = np.random.default_rng([seed, 0xA3D5])
    pool = np.sort(random.choice(scene.N_SCENES, images, replace=False))
    targets = np.repeat(pool, captions)
    texts: list[str] = []
    for found in scene.caption_sets(pool, kind):
        texts.extend(found[k] for k in random.choice(known, captions, replace=False))
    distractors = similar_scenes(targets, random) if pairing == "similar" else _others(targets, pool, random)
    every = np.unique(np.concatenate([pool, distractors]))
    table = torch.from_numpy(source.features(every).astype(np.float16))
    return Games(
        every, table, np.searchsorted(every, targets), np.searchsorted(every, distractors), encode(texts, vocabulary)
    )


def _others(targets: np.ndarray, pool: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A random other scene of the pool for each target."""
    step = random.integers(1, len(pool), len(targets))
    return pool[(np.searchsorted(pool, targets) + step) % len(pool)]


def similar_scenes(targets: np.ndarray, random: np.random.Generator, shared: int = 3) -> np.ndarray:
    """(N,) ids that share at least ``shared`` factors with the targets (N,) and differ in at least one."""
    values = scene.indices(targets)
    out = np.array(targets)
    left = np.arange(len(targets))
    while len(left):
        kept = random.random((len(left), 6)).argsort(1) < shared
        drawn = (random.random((len(left), 6)) * np.array(scene.SIZES)).astype(np.int64)
        out[left] = np.where(kept, values[left], drawn) @ np.array(scene.STRIDES)
        left = left[out[left] == targets[left]]
    return out


def encode(texts: list[str], vocabulary: Vocabulary | None = None) -> torch.Tensor:
    """(N, 25) token ids, padded with PAD, longer captions cut."""
    vocabulary = vocabulary or Vocabulary()
    tokens = np.full((len(texts), MAX_LENGTH), PAD, dtype=np.int64)
    for row, text in enumerate(texts):
        ids = vocabulary.encode(text, MAX_LENGTH)
        tokens[row, : len(ids)] = ids
    return torch.from_numpy(tokens)


def batches(games: Games, size: int, random: np.random.Generator) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """(features (B, 2, D) float32, captions (B, 25)) over all games in a random order."""
    order = random.permutation(len(games.targets))
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        pairs = np.stack([games.targets[rows], games.distractors[rows]], axis=1)
        yield games.table[torch.from_numpy(pairs)].float(), games.captions[torch.from_numpy(rows)]
