"""Recipe of a captioner's training."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from harness.contracts.parameters import (
    Count,
    Ge,
    Index,
    Positive,
    ProperShare,
    check_fields,
)
from harness.errors import HarnessError
from harness_models.captioner.model import check_architecture
from harness_tasks.a3ds.grammar import Kind
from harness_tasks.a3ds.render import VERSION

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
    scenes: Annotated[int, Ge(2)] = 500
    """Number of random A3DS scenes."""
    captions: Count = 5
    """Number of captions of each scene, drawn from its 20 exhaustive or 27 short ones.
    """
    kind: Kind = "exhaustive"
    """Kind of captions: exhaustive or short."""
    features: Any = "factors"
    """Image features, as
    :func:`harness_models.captioner.image_features.image_features` takes them.
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
    def held_out_scenes(self) -> int:
        """Number of scenes whose captions are not used in training."""
        return min(self.scenes - 1, round(self.held_out * self.scenes))

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches of an epoch."""
        return math.ceil(
            (self.scenes - self.held_out_scenes) * self.captions / self.batch
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
