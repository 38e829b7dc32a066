"""What every recipe for training a captioner says: the inputs, the captions, the pace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import torch

from harness.adapters.shared.inputs.a3ds_inputs import read_captions, scene_pairs
from harness.adapters.shared.training.loop import Loop, Loss, Pace
from harness.errors import HarnessError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class CaptionRecipe:
    """Captions of a file, or of rendered scenes."""

    system: ClassVar[str]
    """What ``harness train`` calls it."""
    sizes: ClassVar[Mapping[str, Any]] = {}
    """Sizes of the model and their defaults."""

    features: Any = None
    """Inputs by example id, as the system's adapter takes them; for scenes ``{scenes: {...}}`` (the default where ``scenes`` is given)."""
    captions: str | None = None
    """JSON file of example id -> captions. For scenes, leave it out."""
    scenes: int = 0
    """How many rendered scenes to train on, in place of ``captions``."""
    captions_each: int = 5
    """Captions taken of each scene."""
    kind: str = "short"
    """Kind of the scenes' captions: short or exhaustive."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Sizes of the model."""
    epochs: int = 10
    batch: int = 64
    learning_rate: float = 3e-4
    weight_decay: float = 0.0
    decay: float = 1.0
    """The learning rate is multiplied by this after each epoch."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    seed: int = 1

    def __post_init__(self) -> None:
        if (self.captions is None) == (self.scenes == 0):
            raise HarnessError(f"{self.system}: give either captions (a JSON file) or scenes (a number)")
        if self.captions is not None and self.features is None:
            raise HarnessError(f"{self.system}: features are missing: what is described, by example id")
        for name in ("scenes", "captions_each", "epochs", "batch"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < (name != "scenes"):
                raise HarnessError(f"{self.system}: {name} is a whole number, at least 1; found {value!r}")
        for name in ("learning_rate", "weight_decay", "decay", "clip"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)):
                raise HarnessError(f"{self.system}: {name} is a number; found {value!r} (YAML wants 1.0e-3 for 1e-3)")
        for name in self.model:
            if self.sizes and name not in self.sizes:
                raise HarnessError(f"{self.system}: unknown sizes {name}{did_you_mean(name, self.sizes)}")

    @property
    def source(self) -> Any:
        """``features``, or scenes where they are the captions'."""
        return {"scenes": {}} if self.features is None else self.features

    def pairs(self) -> list[tuple[str, str]]:
        """(example id, caption) of the training set."""
        if self.captions is not None:
            return read_captions(self.captions)
        return scene_pairs(self.scenes, self.captions_each, kind=self.kind, seed=self.seed)

    def loop(self, model: torch.nn.Module, loss: Loss, count: int, folder: Path, *, resume: bool) -> Loop:
        """The loop over ``count`` items; a folder is resumed by the same recipe, whatever its number of epochs."""
        pace = Pace(**{item.name: getattr(self, item.name) for item in fields(Pace)})
        told = {name: value for name, value in asdict(self).items() if name != "epochs"}
        return Loop(model, loss, count, pace, folder, json.dumps(told, sort_keys=True), resume=resume)

    def checkpoint_config(self, epochs: int) -> dict[str, Any]:
        """What the configuration beside the weights tells of the training."""
        return {"features": self.source, "recipe": asdict(self), "epochs": epochs}
