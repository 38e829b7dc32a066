"""Training of TVT by cross-entropy with teacher forcing; deterministic on a CPU, resumable after any epoch, logged.

A run directory holds ``curve.jsonl`` (one line per epoch), ``state.pt`` (weights, optimiser, finished epochs: all that ``resume``
needs), and at the end ``model.safetensors`` and ``config.json`` (sizes, words, features, recipe). Every epoch has random numbers
of its own, so that a resumed run gives the same weights as an uninterrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from harness.adapters.checkpoints import save_checkpoint
from harness.adapters.scenes import SceneViews, read_captions, scene_pairs
from harness.adapters.training_loop import Loop, Pace, Report
from harness.adapters.tvt.data import Views, WordList, collate, open_views
from harness.adapters.tvt.model import BOS, EOS, PAD, Tvt, TvtSizes
from harness.contracts import Example
from harness.errors import HarnessError
from harness.seeds import derive


@dataclass(frozen=True, kw_only=True)
class TvtRecipe:
    """What is trained and how; the defaults are the seed paper's (appendix A.3)."""

    features: Mapping[str, Any]
    """``{view: file}``, ``{semsynan: file}`` or ``{scenes: {...}}``."""
    captions: str | None = None
    """JSON file of example id -> captions. For scenes, leave it out."""
    scenes: int = 0
    """Rendered scenes to train on, in place of ``captions``."""
    captions_each: int = 5
    """Captions taken of each scene."""
    kind: str = "short"
    """Kind of the scenes' captions: short or exhaustive."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Sizes of the model (width, heads, encoder_layers, ...)."""
    epochs: int = 300
    batch: int = 64
    learning_rate: float = 3e-4
    weight_decay: float = 1e-5
    decay: float = 0.99
    """The learning rate is multiplied by this after each epoch."""
    least_count: int = 1
    """Words seen less often are unknown."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    seed: int = 1

    def __post_init__(self) -> None:
        if (self.captions is None) == (self.scenes < 1):
            raise HarnessError("tvt: give either captions (a JSON file) or scenes (a number)")
        if self.epochs < 1 or self.batch < 1:
            raise HarnessError(f"tvt: epochs and batch are at least 1; found {self.epochs} and {self.batch}")


def train(recipe: TvtRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train and save; gives the path of the weights. Raises :class:`HarnessError` when the folder holds another run."""
    trainer = _Trainer(recipe, Path(output), resume)
    trainer.loop.run(report)
    return trainer.finish()


class _Trainer:
    def __init__(self, recipe: TvtRecipe, folder: Path, resume: bool) -> None:
        self.recipe, self.folder = recipe, folder
        self.views: Views = open_views(recipe.features)
        self.pairs = _pairs(recipe)
        self.words = WordList.of((caption for _, caption in self.pairs), recipe.least_count)
        self.rows = self._read()
        self.tokens = [[BOS, *self.words.encode(caption), EOS] for _, caption in self.pairs]
        longest = max(map(len, self.tokens))
        sizes = {"max_length": longest - 1, **recipe.model}
        torch.manual_seed(derive(recipe.seed, "tvt") % 2**63)
        self.model = Tvt(TvtSizes(views=self.views.widths, vocabulary=len(self.words), **sizes))
        self._standardise()
        pace = Pace(
            epochs=recipe.epochs, batch=recipe.batch, learning_rate=recipe.learning_rate, seed=recipe.seed,
            weight_decay=recipe.weight_decay, decay=recipe.decay, clip=recipe.clip,
        )  # fmt: skip
        self.loop = Loop(self.model, self._loss, len(self.pairs), pace, folder, self._told(), resume=resume)

    def _read(self) -> dict[str, dict[str, np.ndarray]]:
        ids = list(dict.fromkeys(name for name, _ in self.pairs))
        if isinstance(self.views, SceneViews):
            self.views.fetch(int(name) for name in ids)
        return {name: self.views.read(Example(name, ("-",))) for name in ids}

    def _standardise(self) -> None:
        for name, into in self.model.views.items():
            frames = torch.from_numpy(np.concatenate([row[name] for row in self.rows.values()]))
            into.mean.copy_(frames.mean(0))  # type: ignore[union-attr, operator]
            into.deviation.copy_(frames.std(0).clamp(min=1e-4))  # type: ignore[union-attr, operator]

    def _told(self) -> str:
        """The recipe without its length, so that a finished run can be trained further."""
        told = {name: value for name, value in asdict(self.recipe).items() if name != "epochs"}
        return json.dumps(told, sort_keys=True)

    def _loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        views, masks = collate([self.rows[self.pairs[i][0]] for i in batch])
        longest = max(len(self.tokens[i]) for i in batch)
        tokens = torch.full((len(batch), longest), PAD)
        for row, i in zip(tokens, batch):
            row[: len(self.tokens[i])] = torch.tensor(self.tokens[i])
        logits, goal = self.model(tokens[:, :-1], views, masks), tokens[:, 1:]
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=PAD)
        return loss, int((goal != PAD).sum())

    def finish(self) -> Path:
        settings = {
            **self.model.settings(), "words": self.words.words, "features": dict(self.recipe.features),
            "recipe": asdict(self.recipe), "epochs": self.loop.epoch,
        }  # fmt: skip
        return save_checkpoint(self.model.state_dict(), settings, self.folder, force=True)


def _pairs(recipe: TvtRecipe) -> list[tuple[str, str]]:
    """(example id, caption) of the training set."""
    if recipe.captions is not None:
        return read_captions(recipe.captions)
    return scene_pairs(recipe.scenes, recipe.captions_each, kind=recipe.kind, seed=recipe.seed)
