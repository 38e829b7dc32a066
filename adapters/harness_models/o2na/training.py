"""Train O2NA on feature files or rendered scenes:
``harness train o2na recipe.yaml --output models/o2na``.

The loss is the sum of five: which objects a caption of its length contains (binary
cross-entropy); their first positions; all other words, predicted from ``vis`` around
the objects (the draft; a share of the objects is hidden too, so that the draft also
works with a part of the objects); masked words, predicted from the others (the
refinement); and the distribution of lengths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn import functional as F

from harness.contracts.parameters import ProperShare
from harness.errors import HarnessError, InputError
from harness_models.o2na.layers import PAD, VIS
from harness_models.o2na.model import O2na
from harness_models.o2na.video_training import (
    Batch,
    VideoRecipe,
    VideoTraining,
    cross_entropy,
    masked_words_loss,
)
from harness_models.o2na.word_list import DETERMINERS, is_visual
from harness_models.shared.training.caption_training import IGNORED
from harness_models.shared.training.recipe import recipe_command
from harness_models.shared.weights.checkpoint_config import read_json

# --------------------------------------------------------------------------- object words
# Object words: nouns of captions by their position, the objects of rendered scenes, and
# lists from files.


def noun_positions(words: Sequence[str]) -> list[int]:
    """Return the positions of nouns in a caption, by a rule on the words around them.

    A noun is the last word of a run of visual words that follows a determiner ("a tiny
    *block* in front of a red *wall*"). If the run has several words and another
    determiner follows it, its last word counts as a verb and the word before it as the
    noun ("the *picture* shows a ...").

    >>> words = "the picture shows a tiny block in front of a wall".split()
    >>> [words[i] for i in noun_positions(words)]
    ['picture', 'block', 'wall']
    """
    positions = []
    start = None
    for i in range(len(words) + 1):
        in_run = i < len(words) and is_visual(words[i])
        if in_run and start is None and i > 0 and words[i - 1] in DETERMINERS:
            start = i
        if not in_run and start is not None:
            verb = i < len(words) and words[i] in DETERMINERS and i - start > 1
            positions.append(i - 2 if verb else i - 1)
            start = None
    return positions


def object_words(captions: Iterable[Sequence[str]], minimum: int = 2) -> list[str]:
    """Return the object words of captions, most frequent first,
    then in alphabetical order.

    A word is an object word if :func:`noun_positions` selects at least half of its
    occurrences, and at least ``minimum`` of them.

    Parameters
    ----------
    captions
        Captions as lists of words.
    minimum
        Smallest number of occurrences as a noun.
    """
    total: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for words in captions:
        total.update(words)
        as_noun.update(words[i] for i in noun_positions(words))
    objects = [
        word
        for word, count in as_noun.items()
        if count >= minimum and 2 * count >= total[word]
    ]
    return sorted(objects, key=lambda word: (-total[word], word))


def scene_objects() -> list[str]:
    """Return the object words of rendered scenes: the four shapes, wall and floor."""
    from harness_tasks.a3ds.scene import FACTORS, PHRASES

    return [*PHRASES[FACTORS.index("shape")], "wall", "floor"]


def read_object_words(path: str) -> list[str]:
    """Return the words of a JSON list; raise :class:`InputError` if the file holds
    anything else.
    """
    words = read_json(path, "list of object words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError("expected a list of words", path)
    return words


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
    :func:`~harness_models.o2na.training.object_words`.
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
            words = (
                scene_objects()
                if self.recipe.scenes
                else object_words(self.texts, self.recipe.least_objects)
            )
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
        ).sum(1)
        slots = predictor.position_logits(mean, lengths, present)
        positions = cross_entropy(slots, first.masked_fill(~present, IGNORED))
        masked, count = masked_words_loss(self.model, batch)
        return objects.mean() + positions + self._draft_loss(
            batch, at & present[:, :, None], first
        ) + masked, count

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
