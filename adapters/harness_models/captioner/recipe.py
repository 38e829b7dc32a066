"""Recipe of a captioner's training: data, sizes, optimisation and stages."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from harness.errors import HarnessError, did_you_mean
from harness_models.captioner.model import check_architecture
from harness_tasks.a3ds.render import VERSION
from harness_tasks.a3ds.scene import Kind

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see :class:`~harness_models.shared.training.recipe.Trainer`."""
_LEAST = {"images": 2, "captions": 1, "epochs": 1, "width": 1, "batch": 1, "min_count": 1, "save_every": 0, "seed": 0}
"""Smallest values of the whole numbers in a recipe."""


@dataclass(frozen=True, kw_only=True)
class CaptionerRecipe:
    """Data, sizes, optimisation and stages of a captioner's training.

    Raises :class:`HarnessError` for values out of range.
    """

    architecture: str = "merge"
    """Position of the image in the network: init, pre, par or merge."""
    images: int = 500
    """Number of random A3DS scenes."""
    captions: int = 5
    """Number of captions of each scene, drawn from its 20 exhaustive or 27 short ones."""
    kind: str = "exhaustive"
    """Kind of captions: exhaustive or short."""
    features: Any = "factors"
    """Image features as :func:`harness_models.captioner.image_features.image_features` takes them."""
    epochs: int = 10
    width: int = 64
    """Width of word vectors, image vector and LSTM."""
    batch: int = 32
    """Number of captions per batch."""
    learning_rate: float = 3e-3
    min_count: int = 1
    """Words with fewer occurrences in the training captions are unknown."""
    held_out: float = 0.05
    """Share of the scenes whose captions are not used in training; perplexity is measured on them at every stage."""
    save_every: int = 0
    """Number of steps between stages; 0: one epoch. The end of the training is always the last stage."""
    save_at: tuple[int, ...] = ()
    """Steps after which a stage is saved, in place of ``save_every``."""
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "save_at", tuple(self.save_at))
        check_architecture(self.architecture)
        for name, low in _LEAST.items():
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
        all_counts = all(isinstance(s, int) and not isinstance(s, bool) and s >= 1 for s in self.save_at)
        if not all_counts or list(self.save_at) != sorted(set(self.save_at)):
            raise HarnessError(f"captioner: save_at is {list(self.save_at)}; expected rising numbers of steps")

    @property
    def held_out_images(self) -> int:
        """Number of scenes whose captions are not used in training."""
        return min(self.images - 1, round(self.held_out * self.images))

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches of an epoch."""
        return math.ceil((self.images - self.held_out_images) * self.captions / self.batch)

    @property
    def stages(self) -> tuple[int, ...]:
        """Step at which each stage is saved."""
        last = self.epochs * self.steps_per_epoch
        steps = self.save_at or range(0, last, self.save_every or self.steps_per_epoch)
        return (*(step for step in steps if 0 < step < last), last)

    def key(self) -> str:
        """Return the cache key of the trained stages, from all settings and the version of the renderer."""
        pictures = "" if self.features in ("factors", "values") else VERSION
        text = json.dumps([FORMAT_VERSION, pictures, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def recipe_from(settings: Mapping[str, Any], location: str = "captioner") -> CaptionerRecipe:
    """Return the recipe of plain settings; raise :class:`HarnessError` for an unknown name, with the nearest one."""
    names = [field.name for field in fields(CaptionerRecipe)]
    for name in settings:
        if name not in names:
            raise HarnessError(
                f"{location}: unknown training setting '{name}'{did_you_mean(str(name), names)}; settings are {', '.join(names)}"
            )
    return CaptionerRecipe(**settings)
