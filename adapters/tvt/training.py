"""Train a two-view transformer on feature files or rendered scenes: ``harness train tvt recipe.yaml --output models/tvt``.

The loss is cross-entropy with teacher forcing. Training is deterministic on a CPU, and a resumed run gives the same weights as an
uninterrupted one. The output folder holds the learning curve (curve.jsonl), the state of the training (state.pt: weights, optimiser, number
of epochs), and at the end model.safetensors and config.json (sizes, words, features, recipe).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn import functional as F

from harness.adapters.shared.layers.standardise import Standardiser
from harness.adapters.shared.training.caption_recipe import CaptionRecipe
from harness.adapters.shared.training.loop import Report
from harness.adapters.shared.training.recipe_command import recipe_command
from harness.adapters.shared.weights.checkpoints import save_checkpoint
from harness.adapters.tvt.model import BOS, EOS, PAD, Tvt, TvtSizes
from harness.adapters.tvt.views import Views, collate, open_views
from harness.adapters.tvt.word_list import WordList
from harness.contracts import Example
from harness.stats.seeds import derive

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see :class:`~harness.adapters.shared.training.recipe.Trainer`."""


@dataclass(frozen=True, kw_only=True)
class TvtRecipe(CaptionRecipe):
    """Data, sizes and optimisation of a TVT training; the defaults are those of Chan et al. 2022, appendix A.3.

    ``features`` is ``{view: file}``, ``{semsynan: file}`` or ``{scenes: {frames, stride}}``; ``model`` holds fields of
    :class:`~harness.adapters.tvt.model.TvtSizes`.
    """

    system: ClassVar[str] = "tvt"
    sizes: ClassVar[Mapping[str, Any]] = {
        item.name: item.default for item in fields(TvtSizes) if item.name not in ("views", "vocabulary")
    }

    epochs: int = 300
    weight_decay: float = 1e-5
    decay: float = 0.99
    least_count: int = 1
    """Words with fewer occurrences are unknown."""


def train(recipe: TvtRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train a model, save it and return the path of its weights.

    Parameters
    ----------
    recipe
        Data, sizes and optimisation.
    output
        Folder of the run.
    resume
        If true, continue after the last epoch of the run in ``output``.
    report
        Function that gets a mapping with ``epoch`` and ``loss`` after every epoch.

    Raises
    ------
    HarnessError
        If the folder holds another run, or a value of the recipe is out of range.
    InputError
        If captions or features are missing or malformed.
    """
    training = _TvtTraining(recipe, Path(output), resume)
    training.loop.run(report)
    return training.finish()


class _TvtTraining:
    """Data, model and loss of one training."""

    def __init__(self, recipe: TvtRecipe, folder: Path, resume: bool) -> None:
        self.recipe, self.folder = recipe, folder
        self.views: Views = open_views(recipe.source)
        self.pairs = recipe.pairs()
        self.words = WordList.of((caption for _, caption in self.pairs), recipe.least_count)
        self.rows = self._read()
        self.tokens = [[BOS, *self.words.encode(caption), EOS] for _, caption in self.pairs]
        longest = max(map(len, self.tokens))
        sizes = {"max_length": longest - 1, **recipe.model}
        torch.manual_seed(derive(recipe.seed, "tvt") % 2**63)
        self.model = Tvt(TvtSizes(views=self.views.widths, vocabulary=len(self.words), **sizes))
        self._standardise()
        self.loop = recipe.loop(self.model, self._loss, len(self.pairs), folder, resume=resume)

    def _read(self) -> dict[str, dict[str, np.ndarray]]:
        """Return the views of each example id."""
        examples = [Example(name, ("-",)) for name in dict.fromkeys(name for name, _ in self.pairs)]
        self.views.check(examples)
        return {example.id: self.views.read(example) for example in examples}

    def _standardise(self) -> None:
        """Set mean and standard deviation of each view from all frames."""
        for name, into in self.model.views.items():
            standard = Standardiser.fit(np.concatenate([row[name] for row in self.rows.values()]))
            into.mean.copy_(standard.mean)  # type: ignore[union-attr, operator]
            into.deviation.copy_(standard.deviation)  # type: ignore[union-attr, operator]

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
        """Save the model with its configuration and return the path of the weights."""
        settings = {
            **self.model.settings(),
            "words": self.words.words,
            **self.recipe.checkpoint_config(self.loop.epoch),
        }
        return save_checkpoint(self.model.state_dict(), settings, self.folder, force=True)


trainer, add_arguments, run = recipe_command(TvtRecipe, train, FORMAT_VERSION)
