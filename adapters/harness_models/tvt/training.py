"""Train a two-view transformer on feature files or rendered scenes:
``harness train tvt recipe.yaml --output models/tvt``.

The loss is cross-entropy with teacher forcing. Training is deterministic on a CPU, and
a resumed run gives the same weights as an uninterrupted one. The output folder holds
the learning curve (curve.jsonl), the state of the training (state.pt: weights,
optimiser, number of epochs), and at the end model.safetensors and config.json (sizes,
words, features, recipe).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import torch

from harness.contracts.parameters import Count
from harness_models.shared.inputs.views import collate, open_views
from harness_models.shared.standardiser import Standardiser
from harness_models.shared.tokenisers.word_list import frequent_words
from harness_models.shared.training.caption_tokens import pad_rows, token_loss
from harness_models.shared.training.caption_training import (
    CaptionRecipe,
    CaptionTraining,
)
from harness_models.shared.training.recipe_command import recipe_command
from harness_models.shared.training.reward_training import reward_command
from harness_models.tvt.model import BOS, EOS, PAD, SPECIAL, Tvt, TvtSizes, TvtWords

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class TvtRecipe(CaptionRecipe):
    """Data, sizes and optimisation of a TVT training;
    the defaults are those of Chan et al. 2022, appendix A.3.

    ``features`` is ``{view: file}``, ``{semsynan: file}`` or
    ``{scenes: {frames, stride}}``; ``model`` holds fields of
    :class:`~harness_models.tvt.model.TvtSizes`.
    """

    system: ClassVar[str] = "tvt"
    sizes: ClassVar[Mapping[str, Any]] = {
        item.name: item.default
        for item in fields(TvtSizes)
        if item.name not in ("views", "vocabulary")
    }

    epochs: Count = 300
    weight_decay: float = 1e-5
    decay: float = 0.99
    least_count: Count = 1
    """Words with fewer occurrences are unknown."""


class TvtTraining(CaptionTraining):
    """Training of TVT."""

    seed_word = "tvt"
    recipe: TvtRecipe
    model: Tvt

    def read_data(self) -> None:
        """Read the captions, and the views of each example id."""
        texts = (TvtWords.split(caption) for _, caption in self.pairs)
        self.words = TvtWords(frequent_words(texts, self.recipe.least_count, SPECIAL))
        self.views = open_views(self.recipe.source)
        self.views.check(self.examples)
        self.rows = {example.id: self.views.read(example) for example in self.examples}
        self.tokens = [
            [BOS, *self.words.encode(caption), EOS] for _, caption in self.pairs
        ]

    def build(self) -> Tvt:
        """Return the model with initial weights;
        mean and deviation of each view are those of all frames.
        """
        sizes = {"max_length": max(map(len, self.tokens)) - 1, **self.recipe.model}
        model = Tvt(
            TvtSizes(views=self.views.widths, vocabulary=len(self.words), **sizes)
        )
        views: Any = model.views
        for name, view in views.items():
            rows = np.concatenate([row[name] for row in self.rows.values()])
            standard = Standardiser.fit(rows)
            view.mean.copy_(standard.mean)
            view.deviation.copy_(standard.deviation)
        return model

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the mean loss of each word and the end, predicted from the words
        before it, and their number.
        """
        views, masks = collate([self.rows[self.pairs[i][0]] for i in batch])
        tokens = pad_rows([self.tokens[i] for i in batch], PAD)
        return token_loss(self.model(tokens[:, :-1], views, masks), tokens[:, 1:], PAD)

    def settings(self) -> dict[str, Any]:
        """Return the sizes and the words."""
        return {**self.model.settings(), "words": self.words.words}


train = TvtTraining.train
trainer, add_arguments, run = recipe_command(TvtRecipe, train, FORMAT_VERSION)
by_reward = reward_command("tvt")
