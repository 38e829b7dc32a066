"""Base class of the recipes of captioning models: inputs, captions, sizes and optimisation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import torch

from harness.contracts.parameters import Count, Index, check_fields
from harness.errors import HarnessError, did_you_mean
from harness_models.shared.inputs.a3ds_inputs import read_captions, scene_pairs
from harness_models.shared.training.loop import Loop, Loss, Schedule


@dataclass(frozen=True, kw_only=True)
class CaptionRecipe:
    """Recipe that trains on the captions of a file or of rendered scenes.

    Raises :class:`HarnessError` for a value that does not fit.
    """

    system: ClassVar[str]
    """Name of the system under ``harness train``."""
    sizes: ClassVar[Mapping[str, Any]] = {}
    """Names and defaults of the sizes of the model; empty if the subclass checks them itself."""

    features: Any = None
    """Inputs by example id, as the adapter of the system takes them; for scenes ``{scenes: {...}}``, the default if ``scenes`` is set."""
    captions: str | None = None
    """JSON file of example id -> captions; None for scenes."""
    scenes: Index = 0
    """Number of rendered scenes to train on, in place of ``captions``."""
    captions_each: Count = 5
    """Number of captions of each scene."""
    kind: str = "short"
    """Kind of the captions of scenes: short or exhaustive."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Sizes of the model."""
    epochs: Count = 10
    batch: Count = 64
    """Captions per update."""
    learning_rate: float = 3e-4
    """Learning rate of Adam."""
    weight_decay: float = 0.0
    decay: float = 1.0
    """Factor of the learning rate after each epoch."""
    clip: float = 1.0
    """Maximum norm of the gradient."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_fields(self.system, self)
        if (self.captions is None) == (self.scenes == 0):
            raise HarnessError(f"{self.system}: give either captions (a JSON file) or scenes (a number)")
        if self.captions is not None and self.features is None:
            raise HarnessError(f"{self.system}: features are missing (the inputs by example id)")
        for name in self.model:
            if self.sizes and name not in self.sizes:
                raise HarnessError(f"{self.system}: unknown sizes {name}{did_you_mean(name, self.sizes)}")

    @property
    def source(self) -> Any:
        """``features``, or ``{scenes: {}}`` if the captions are those of scenes."""
        return {"scenes": {}} if self.features is None else self.features

    def pairs(self) -> list[tuple[str, str]]:
        """Return the (example id, caption) pairs of the training set."""
        if self.captions is not None:
            return read_captions(self.captions)
        return scene_pairs(self.scenes, self.captions_each, kind=self.kind, seed=self.seed)

    def loop(self, model: torch.nn.Module, loss: Loss, count: int, folder: Path, *, resume: bool) -> Loop:
        """Return a training loop.

        Parameters
        ----------
        model
            Model to train.
        loss
            Loss of a batch of items.
        count
            Number of items.
        folder
            Folder of the run.
        resume
            If true, continue the run in the folder. Its recipe must be the same, except for the number of epochs.
        """
        schedule = Schedule(**{item.name: getattr(self, item.name) for item in fields(Schedule)})
        identity = {name: value for name, value in asdict(self).items() if name != "epochs"}
        return Loop(model, loss, count, schedule, folder, json.dumps(identity, sort_keys=True), resume=resume)

    def checkpoint_config(self, epochs: int) -> dict[str, Any]:
        """Return the entries about the training in the configuration of a checkpoint after ``epochs`` epochs."""
        return {"features": self.source, "recipe": asdict(self), "epochs": epochs}
