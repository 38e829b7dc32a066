"""How a captioner is trained, and the images and captions that a recipe names."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

import numpy as np
import torch

from harness.adapters.captioner.image_features import image_features
from harness.adapters.captioner.model import END, FIRST_WORD, UNKNOWN, check_architecture
from harness.errors import HarnessError, did_you_mean
from harness.tasks.a3ds.render import VERSION
from harness.tasks.a3ds.scene import N_SCENES, Kind, caption_sets
from harness.tasks.readers.lines import words_of

FORMAT = 1
"""Raised whenever the same recipe would give other weights."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is trained and how; the numbers are whole unless said otherwise."""

    architecture: str = "merge"
    images: int = 500
    """Random A3DS scenes."""
    captions: int = 5
    """Captions of each scene, drawn from its 20 exhaustive or 27 short ones."""
    kind: str = "exhaustive"
    features: Any = "factors"
    """Image features: see :func:`harness.adapters.captioner.image_features.image_features`."""
    epochs: int = 10
    width: int = 64
    """Of word vectors, image vector and LSTM."""
    batch: int = 32
    learning_rate: float = 3e-3
    min_count: int = 1
    """Words rarer than this in the training captions are unknown."""
    held_out: float = 0.05
    """Share of the scenes whose captions are never trained on; perplexity is measured there at every stage."""
    save_every: int = 0
    """A stage after every so many steps; 0: after every epoch. The end of training is always the last stage."""
    save_at: tuple[int, ...] = ()
    """Steps after which there is a stage, in place of ``save_every``."""
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "save_at", tuple(self.save_at))
        check_architecture(self.architecture)
        least = {
            "images": 2,
            "captions": 1,
            "epochs": 1,
            "width": 1,
            "batch": 1,
            "min_count": 1,
            "save_every": 0,
            "seed": 0,
        }
        for name, low in least.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise HarnessError(f"captioner: {name} is {value!r}; expected a whole number of at least {low}")
        if self.kind not in get_args(Kind):
            raise HarnessError(f"captioner: kind is {self.kind!r}; expected {' or '.join(get_args(Kind))}")
        if not self.learning_rate > 0 or not 0 <= self.held_out < 1:
            raise HarnessError(
                f"captioner: learning_rate {self.learning_rate!r} must be above 0, held_out {self.held_out!r} a share below 1"
            )
        if self.save_at and self.save_every:
            raise HarnessError("captioner: give save_every or save_at, not both")
        if any(isinstance(s, bool) or not isinstance(s, int) or s < 1 for s in self.save_at) or list(
            self.save_at
        ) != sorted(set(self.save_at)):
            raise HarnessError(f"captioner: save_at is {list(self.save_at)}; expected rising numbers of steps")

    @property
    def held_images(self) -> int:
        return min(self.images - 1, round(self.held_out * self.images))

    @property
    def steps_per_epoch(self) -> int:
        return math.ceil((self.images - self.held_images) * self.captions / self.batch)

    @property
    def stages(self) -> tuple[int, ...]:
        """The step at which each stage is saved."""
        last = self.epochs * self.steps_per_epoch
        asked = self.save_at or range(0, last, self.save_every or self.steps_per_epoch)
        return (*(step for step in asked if 0 < step < last), last)

    def key(self) -> str:
        """Names the trained models: all settings and the renderer's version."""
        pictures = "" if self.features in ("factors", "values") else VERSION
        text = json.dumps([FORMAT, pictures, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def recipe_from(settings: Mapping[str, Any], where: str = "captioner") -> Recipe:
    """A recipe from plain settings; raises :class:`HarnessError` for an unknown one, with the nearest name."""
    known = [field.name for field in fields(Recipe)]
    for name in settings:
        if name not in known:
            raise HarnessError(
                f"{where}: unknown training setting '{name}'{did_you_mean(str(name), known)}; settings are {', '.join(known)}"
            )
    return Recipe(**settings)


@dataclass(frozen=True)
class Material:
    """What a recipe trains on."""

    words: tuple[str, ...]
    features: torch.Tensor
    """(scenes, F) float32."""
    captions: tuple[tuple[int, tuple[int, ...]], ...]
    """(row of ``features``, word ids with END) of every training caption."""
    held: tuple[tuple[int, tuple[int, ...]], ...]
    source: str
    """Name of the image features."""


def material(recipe: Recipe) -> Material:
    """Scenes, captions and vocabulary of a recipe. Raises :class:`HarnessError` when more captions are asked than there are."""
    rng = np.random.default_rng([recipe.seed, 0])
    scenes = rng.choice(N_SCENES, recipe.images, replace=False)
    texts: list[tuple[int, list[str]]] = []
    kind: Any = recipe.kind
    for row, own in enumerate(caption_sets(scenes, kind)):
        if recipe.captions > len(own):
            raise HarnessError(f"captioner: captions is {recipe.captions}; a scene has {len(own)} {recipe.kind} ones")
        texts.extend((row, words_of(own[k])) for k in rng.permutation(len(own))[: recipe.captions])
    cut = recipe.held_images
    counts = Counter(word for row, words in texts if row >= cut for word in words)
    vocabulary = tuple(sorted(word for word, count in counts.items() if count >= recipe.min_count))
    ids = {word: FIRST_WORD + i for i, word in enumerate(vocabulary)}
    encoded = [(row, (*(ids.get(word, UNKNOWN) for word in words), END)) for row, words in texts]
    source = image_features(recipe.features)
    return Material(
        vocabulary,
        torch.from_numpy(source.features(scenes).astype(np.float32)),
        tuple(item for item in encoded if item[0] >= cut),
        tuple(item for item in encoded if item[0] < cut),
        source.name,
    )
