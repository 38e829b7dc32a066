"""Recipe of a captioner's training, and its data: scenes, image features,
captions and vocabulary.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, cast

import numpy as np
import torch

from harness.contracts.parameters import (
    Count,
    Ge,
    Index,
    Positive,
    ProperShare,
    check_fields,
)
from harness.errors import HarnessError
from harness_models.captioner.model import END, FIRST_WORD, UNKNOWN, check_architecture
from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.render import VERSION
from harness_tasks.a3ds.scene import N_SCENES, SIZES, Kind, caption_sets, indices
from harness_tasks.readers.lines import words_of

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class CaptionerRecipe:
    """Data, sizes, optimisation and stages of a captioner's training.

    Raises :class:`HarnessError` for values out of range.
    """

    architecture: str = "merge"
    """Position of the image in the network: init, pre, par or merge."""
    images: Annotated[int, Ge(2)] = 500
    """Number of random A3DS scenes."""
    captions: Count = 5
    """Number of captions of each scene, drawn from its 20 exhaustive or 27 short ones.
    """
    kind: Kind = "exhaustive"
    """Kind of captions: exhaustive or short."""
    features: Any = "factors"
    """Image features as :func:`harness_models.captioner.recipe.image_features` takes
    them.
    """
    epochs: Count = 10
    width: Count = 64
    """Width of word vectors, image vector and LSTM."""
    batch: Count = 32
    """Number of captions per batch."""
    learning_rate: Positive = 3e-3
    min_count: Count = 1
    """Words with fewer occurrences in the training captions are unknown."""
    held_out: ProperShare = 0.05
    """Share of the scenes whose captions are not used in training; perplexity is
    measured on them at every stage.
    """
    save_every: Index = 0
    """Number of steps between stages; 0: one epoch. The end of the training is always
    the last stage.
    """
    save_at: tuple[Count, ...] = ()
    """Steps after which a stage is saved, in place of ``save_every``."""
    seed: Index = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "save_at", tuple(self.save_at))
        check_architecture(self.architecture)
        check_fields("captioner", self)
        if self.save_at and self.save_every:
            raise HarnessError("captioner: give save_every or save_at, not both")
        if list(self.save_at) != sorted(set(self.save_at)):
            raise HarnessError(
                f"captioner: save_at is {list(self.save_at)}; "
                "expected rising numbers of steps"
            )

    @property
    def held_out_images(self) -> int:
        """Number of scenes whose captions are not used in training."""
        return min(self.images - 1, round(self.held_out * self.images))

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches of an epoch."""
        return math.ceil(
            (self.images - self.held_out_images) * self.captions / self.batch
        )

    @property
    def stages(self) -> tuple[int, ...]:
        """Step at which each stage is saved."""
        last = self.epochs * self.steps_per_epoch
        steps = self.save_at or range(0, last, self.save_every or self.steps_per_epoch)
        return (*(step for step in steps if 0 < step < last), last)

    def key(self) -> str:
        """Return the cache key of the trained stages,
        from all settings and the version of the renderer.
        """
        pictures = "" if self.features in ("factors", "values") else VERSION
        text = json.dumps([FORMAT_VERSION, pictures, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


# --------------------------------------------------------------------------- image features
# Image features of A3DS scenes for the captioner: the factors of the scene, or network
# features of its picture.
Source = str | Mapping[str, Any]
"""Name of a source, or a mapping of a name to its settings."""


class OneHotFactors:
    """One-hot vectors of the six factors: 10 + 10 + 10 + 8 + 4 + 15 = 57 numbers."""

    name = "factors"
    width = sum(SIZES)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features (B, 57) float32 of scene ids (B,)."""
        values = indices(ids) + np.concatenate([[0], np.cumsum(SIZES)[:-1]])
        out = np.zeros((len(values), self.width), dtype=np.float32)
        np.put_along_axis(out, values, 1.0, axis=1)
        return out


class FactorValues:
    """Values of the six factors, each scaled to [0, 1]."""

    name = "values"
    width = len(SIZES)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features (B, 6) float32 of scene ids (B,)."""
        return (indices(ids) / (np.array(SIZES) - 1)).astype(np.float32)


_FACTORS: dict[str, type[OneHotFactors] | type[FactorValues]] = {
    "factors": OneHotFactors,
    "values": FactorValues,
}


def image_features(source: Source = "factors") -> pixels.ImageFeatures:
    """Return the source of image features.

    Parameters
    ----------
    source
        ``factors`` (one-hot), ``values`` (six numbers), or a source of picture
        features: ``efficientnet-lite0``, ``resnet50`` or ``tensor``
        (:func:`harness_tasks.a3ds.pixels.features`).

    Raises
    ------
    HarnessError
        For another name.

    Examples
    --------
    >>> image_features("values").features([0, 479_999]).tolist()
    [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    """
    if isinstance(source, str) and source in _FACTORS:
        return _FACTORS[source]()
    return pixels.features(source)


# --------------------------------------------------------------------------- training data
# Training data of the captioner: scenes, captions and vocabulary of a recipe.


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
    ``recipe.held_out_images`` scenes are held out.

    Raises
    ------
    HarnessError
        If the recipe names more captions than a scene has.
    """
    rng = np.random.default_rng([recipe.seed, 0])
    scenes = rng.choice(N_SCENES, recipe.images, replace=False)
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
    cut = recipe.held_out_images
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
