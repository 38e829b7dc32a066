"""Train ARB, NAB or NACF on feature files or rendered scenes:
``harness train nacf recipe.yaml --output models/nacf``.

ARB: cross-entropy from left to right. NAB: a random number of words at random positions
of each caption is masked and predicted (Mask-Predict, Ghazvininejad et al. 2019), and
the length predictor learns the distribution of the video's caption lengths. NACF: as
NAB; in addition, templates are predicted from ``vis`` in every slot: the visual words,
and ``mask`` everywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch

from harness.errors import HarnessError, did_you_mean
from harness_models.nacf.checkpoint_layout import NacfSizes
from harness_models.nacf.model import Nacf
from harness_models.o2na.layers import BOS, EOS, MASK, PAD, VIS
from harness_models.o2na.losses import cross_entropy, masked_words_loss
from harness_models.o2na.video_training import Batch, VideoRecipe, VideoTraining
from harness_models.o2na.visual_words import is_visual
from harness_models.shared.training.caption_tokens import IGNORED
from harness_models.shared.training.recipe_command import recipe_command

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class NacfRecipe(VideoRecipe):
    """Data, method, sizes and optimisation of a training of ARB, NAB or NACF."""

    system: ClassVar[str] = "nacf"

    method: Literal["ARB", "NAB", "NACF"] = "NACF"
    """ARB, NAB or NACF."""
    visual: Sequence[str] | None = None
    """Visual words (NACF). Default: all words for which
    :func:`~harness_models.o2na.visual_words.is_visual` is true.
    """


class NacfTraining(VideoTraining):
    """Training of ARB, NAB or NACF."""

    recipe: NacfRecipe
    sizes: NacfSizes
    model: Nacf

    @property
    def method(self) -> str:
        """Method of the recipe."""
        return self.recipe.method

    def build_sizes(self, **sizes: Any) -> NacfSizes:
        """Return the sizes of a model of the method."""
        return NacfSizes(method=self.method, **sizes)

    def build(self) -> Nacf:
        """Return the model with initial weights,
        and mark the visual words of the word list.
        """
        self.visual = torch.tensor(self._visual())
        return Nacf(self.sizes)

    def _visual(self) -> list[bool]:
        """Return True for each visual word of the list."""
        visual = self.recipe.visual
        words = self.words
        if visual is None:
            return [i > VIS and is_visual(word) for i, word in enumerate(words.words)]

        for word in visual:
            if word not in words.ids:
                raise HarnessError(
                    "nacf: visual: no caption has the word "
                    f"'{word}'{did_you_mean(word, words.ids)}"
                )
        return [word in set(visual) for word in words.words]

    def losses(self, batch: Batch) -> tuple[torch.Tensor, int]:
        """Return the mean loss per predicted word, and the number of predicted words
        (template words not counted).
        """
        if self.sizes.left_to_right:
            return left_to_right_loss(self.model, batch)
        loss, count = masked_words_loss(self.model, batch)
        if self.sizes.is_disentangled:
            loss = loss + self._template_loss(batch)
        return loss, count

    def _template_loss(self, batch: Batch) -> torch.Tensor:
        pad = batch.tokens == PAD
        goal = torch.where(self.visual[batch.tokens], batch.tokens, MASK)
        goal = goal.masked_fill(pad, IGNORED)
        slots = torch.full_like(goal, VIS).masked_fill(pad, PAD)
        return cross_entropy(self.model.logits(slots, batch.encoded), goal)


def left_to_right_loss(model: Nacf, batch: Batch) -> tuple[torch.Tensor, int]:
    """Return the mean loss of every word and the end,
    predicted from the words before it, and their number.
    """
    tokens = batch.tokens
    start = torch.full_like(tokens[:, :1], BOS)

    # the words, with the end behind the last one of each caption
    goal = torch.cat([tokens, torch.full_like(start, PAD)], dim=1)
    lengths = (tokens != PAD).sum(1, keepdim=True)
    goal = goal.scatter(1, lengths, EOS)

    logits = model.logits(torch.cat([start, tokens], dim=1), batch.encoded)
    loss = cross_entropy(logits, goal.masked_fill(goal == PAD, IGNORED))
    return loss, int((goal != PAD).sum())


train = NacfTraining.train
trainer, add_arguments, run = recipe_command(NacfRecipe, train, FORMAT_VERSION)
