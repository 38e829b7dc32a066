"""Training data of the captioner: scenes, captions and vocabulary of a recipe."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch

from harness.errors import HarnessError
from harness_models.captioner.image_features import image_features
from harness_models.captioner.model import END, FIRST_WORD, UNKNOWN
from harness_models.captioner.recipe import CaptionerRecipe
from harness_tasks.a3ds.grammar import Kind, caption_sets
from harness_tasks.a3ds.scene import N_SCENES
from harness_tasks.readers.lines import words_of


@dataclass(frozen=True)
class TrainingData:
    """Scenes, captions and vocabulary of a training."""

    words: tuple[str, ...]
    """Vocabulary, in alphabetical order."""
    features: torch.Tensor
    """Image features (scenes, F) float32."""
    captions: tuple[tuple[int, tuple[int, ...]], ...]
    """(row of ``features``, word ids with END) of every training caption."""
    held_out: tuple[tuple[int, tuple[int, ...]], ...]
    """The same of the captions on which perplexity is measured."""
    source: str
    """Name of the image features."""


def training_data(recipe: CaptionerRecipe) -> TrainingData:
    """Return the training data of a recipe.

    All draws depend on the seed of the recipe only. The first
    ``recipe.held_out_scenes`` scenes are held out.

    Raises
    ------
    HarnessError
        If the recipe names more captions than a scene has.
    """
    rng = np.random.default_rng([recipe.seed, 0])
    scenes = rng.choice(N_SCENES, recipe.scenes, replace=False)

    texts: list[tuple[int, list[str]]] = []
    for row, captions in enumerate(caption_sets(scenes, cast(Kind, recipe.kind))):
        if recipe.captions > len(captions):
            raise HarnessError(
                f"captioner: captions is {recipe.captions}; "
                f"a scene has {len(captions)} {recipe.kind} ones"
            )
        texts.extend(
            (row, words_of(captions[k]))
            for k in rng.permutation(len(captions))[: recipe.captions]
        )

    # The words of held-out scenes do not enter the vocabulary.
    cut = recipe.held_out_scenes
    counts = Counter(word for row, words in texts if row >= cut for word in words)
    vocabulary = tuple(
        sorted(word for word, count in counts.items() if count >= recipe.min_count)
    )
    ids = {word: FIRST_WORD + i for i, word in enumerate(vocabulary)}

    encoded = [
        (row, (*(ids.get(word, UNKNOWN) for word in words), END))
        for row, words in texts
    ]

    source = image_features(recipe.features)
    return TrainingData(
        vocabulary,
        torch.from_numpy(source.features(scenes).astype(np.float32)),
        tuple(item for item in encoded if item[0] >= cut),
        tuple(item for item in encoded if item[0] < cut),
        source.name,
    )
