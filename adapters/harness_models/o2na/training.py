"""Train O2NA on feature files or rendered scenes:
``harness train o2na recipe.yaml --output models/o2na``.

The loss is the sum of five: which objects a caption of its length contains (binary
cross-entropy); their first positions; all other words, predicted from ``vis`` around
the objects (the draft; a share of the objects is hidden too, so that the draft also
works with a part of the objects); masked words, predicted from the others (the
refinement); and the distribution of lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn import functional as F

from harness.contracts.parameters import ProperShare
from harness.errors import HarnessError
from harness_models.o2na.layers import PAD, VIS
from harness_models.o2na.losses import cross_entropy, masked_words_loss
from harness_models.o2na.model import O2na
from harness_models.o2na.object_words import (
    object_words,
    read_object_words,
    scene_objects,
)
from harness_models.o2na.video_training import Batch, VideoRecipe, VideoTraining
from harness_models.shared.training.caption_tokens import IGNORED
from harness_models.shared.training.recipe_command import recipe_command

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class O2naRecipe(VideoRecipe):
    """Data, objects, sizes and optimisation of an O2NA training."""

    system: ClassVar[str] = "o2na"

    objects: Sequence[str] | str | None = None
    """Object words: a list, or a JSON file with a list. Default: shapes, wall and floor
    for scenes; for caption files, the words of
    :func:`~harness_models.o2na.object_words.object_words`.
    """
    least_objects: int = 2
    """Smallest number of occurrences as a noun for a word to be an object word."""
    hide_objects: ProperShare = 0.1
    """Share of the object words that are hidden from the draft."""


class O2naTraining(VideoTraining):
    """Training of O2NA."""

    recipe: O2naRecipe
    model: O2na
    method = "O2NA"

    def build(self) -> O2na:
        """Return the model with initial weights and the word ids of the objects."""
        objects = self._objects()
        model = O2na(self.sizes, len(objects))
        model.object_predictor.words.copy_(
            torch.tensor([self.words.ids[word] for word in objects])
        )
        return model

    def _objects(self) -> list[str]:
        """Return the object words of the recipe, of scenes, or of the captions."""
        objects = self.recipe.objects
        if objects is None:
            if self.recipe.scenes:
                words = scene_objects()
            else:
                words = object_words(self.texts, self.recipe.least_objects)
            words = [word for word in words if word in self.words.ids]
            if not words:
                raise HarnessError(
                    "o2na: the captions contain no object words: "
                    "give objects (a list of words)"
                )
            return words

        words = (
            read_object_words(objects) if isinstance(objects, str) else list(objects)
        )
        for word in words:
            if word not in self.words.ids:
                raise HarnessError.of_name(
                    "o2na: objects: no caption has the word", word, self.words.ids
                )

        if not words or len(set(words)) < len(words):
            raise HarnessError("o2na: objects: expected different words, at least one")
        return words

    def losses(self, batch: Batch) -> tuple[torch.Tensor, int]:
        """Return the sum of the losses of objects, positions, draft and masked words,
        and the number of masked words.
        """
        predictor = self.model.object_predictor
        tokens = batch.tokens
        # Only the first occurrence of an object has a position; later ones are ordinary
        # words of the draft.
        at = tokens[:, None] == predictor.words[None, :, None]  # (B, O, T)
        present = at.any(2)
        first = at.int().argmax(2)
        mean = batch.encoded.mean

        lengths = (tokens != PAD).sum(1)
        scores = predictor.object_logits(mean, lengths)
        objects = F.binary_cross_entropy_with_logits(
            scores, present.to(mean), reduction="none"
        )

        slots = predictor.position_logits(mean, lengths, present)
        positions = cross_entropy(slots, first.masked_fill(~present, IGNORED))

        masked, count = masked_words_loss(self.model, batch)
        draft = self._draft_loss(batch, at & present[:, :, None], first)
        return objects.sum(1).mean() + positions + draft + masked, count

    def _draft_loss(
        self, batch: Batch, at: torch.Tensor, first: torch.Tensor
    ) -> torch.Tensor:
        """Return the loss of all words but the objects at their first positions.

        ``at`` (B, O, T) is True where a slot holds an object, and ``first`` (B, O) is
        the first such slot.
        """
        tokens = batch.tokens
        real = batch.tokens != PAD
        slots = torch.arange(tokens.shape[1])
        anchors = (at & (slots == first[:, :, None])).any(1)
        # Some objects are hidden from the draft, since the decoding may place fewer of
        # them than the caption has.
        anchors &= torch.rand(tokens.shape) >= self.recipe.hide_objects
        open_slots = real & ~anchors
        logits = self.model.logits(tokens.masked_fill(open_slots, VIS), batch.encoded)
        return cross_entropy(logits, tokens.masked_fill(~open_slots, IGNORED))


train = O2naTraining.train
trainer, add_arguments, run = recipe_command(O2naRecipe, train, FORMAT_VERSION)
