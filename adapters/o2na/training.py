"""Training of our O2NA on feature files or rendered scenes: ``harness train o2na``.

Five losses, added: which objects a caption of its length names (binary cross-entropy), their first places, all other words around
them from ``vis`` (the draft; now and then an object is hidden too, so that a part of the objects will do), masked words from the others
(refinement), and the distribution of lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch.nn import functional as F

from harness.adapters.nacf.visual_words import object_words
from harness.adapters.nacf.layers import PAD, VIS
from harness.adapters.nacf.training import IGNORED, Batch, VideoRecipe, VideoTrainer, cross_entropy, masked_words_loss
from harness.adapters.o2na.model import O2na
from harness.adapters.shared.training.loop import Report
from harness.adapters.shared.weights.checkpoint_config import read_json
from harness.errors import HarnessError, InputError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class O2naRecipe(VideoRecipe):
    """A recipe of O2NA."""

    system: ClassVar[str] = "o2na"

    objects: Sequence[str] | str | None = None
    """Object words: a list, or a JSON file with one. Left out, scenes have their shapes, wall and floor, and caption files the words that
    :func:`~harness.adapters.nacf.visual_words.object_words` finds."""
    least_objects: int = 2
    """How often a word must stand as an object to be found."""
    hide_objects: float = 0.1
    """Share of the object words that a draft has to be written without."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.hide_objects < 1:
            raise HarnessError(f"o2na: hide_objects is a share from 0 to below 1; found {self.hide_objects}")


def train(recipe: O2naRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train and save; gives the path of the weights. Raises :class:`HarnessError` when the folder holds another run."""
    trainer = O2naTrainer(recipe, Path(output), resume)
    trainer.loop.run(report)
    return trainer.finish()


class O2naTrainer(VideoTrainer):
    recipe: O2naRecipe
    model: O2na

    @property
    def method(self) -> str:
        return "O2NA"

    def build(self) -> O2na:
        objects = self._objects()
        model = O2na(self.sizes, len(objects))
        model.object_predictor.words.copy_(torch.tensor([self.words.ids[word] for word in objects]))
        return model

    def _objects(self) -> list[str]:
        given = self.recipe.objects
        if given is None:
            found = scene_objects() if self.recipe.scenes else object_words(self.texts, self.recipe.least_objects)
            found = [word for word in found if word in self.words.ids]
            if not found:
                raise HarnessError("o2na: no object words were found in the captions: give objects (a list of words)")
            return found
        words = read_words(given) if isinstance(given, str) else list(given)
        for word in words:
            if word not in self.words.ids:
                raise HarnessError(
                    f"o2na: objects: no caption has the word '{word}'{did_you_mean(str(word), self.words.ids)}"
                )
        if not words or len(set(words)) < len(words):
            raise HarnessError("o2na: objects: expected different words, at least one")
        return words

    def losses(self, batch: Batch) -> tuple[torch.Tensor, int]:
        predictor, tokens = self.model.object_predictor, batch.tokens
        stands = tokens[:, None] == predictor.words[None, :, None]
        named, first = stands.any(2), stands.int().argmax(2)
        mean, lengths = batch.encoded.mean, (tokens != PAD).sum(1)
        scores = predictor.detected(mean, lengths)
        which = F.binary_cross_entropy_with_logits(scores, named.to(mean), reduction="none").sum(1)
        places = predictor.placed(mean, lengths, named)
        where = cross_entropy(places, first.masked_fill(~named, IGNORED))
        masked, count = masked_words_loss(self.model, batch)
        return which.mean() + where + self._draft_loss(batch, stands & named[:, :, None], first) + masked, count

    def _draft_loss(self, batch: Batch, stands: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        tokens, real = batch.tokens, batch.tokens != PAD
        slots = torch.arange(tokens.shape[1])
        anchors = (stands & (slots == first[:, :, None])).any(1)
        anchors &= torch.rand(tokens.shape) >= self.recipe.hide_objects
        open_slots = real & ~anchors
        logits = self.model.logits(tokens.masked_fill(open_slots, VIS), batch.encoded)
        return cross_entropy(logits, tokens.masked_fill(~open_slots, IGNORED))


def scene_objects() -> list[str]:
    """What stands in a rendered scene: its shapes, wall and floor."""
    from harness.tasks.a3ds.scene import FACTORS, PHRASES

    return [*PHRASES[FACTORS.index("shape")], "wall", "floor"]


def read_words(path: str) -> list[str]:
    """A JSON list of words; raises :class:`InputError` for anything else."""
    found = read_json(path, "list of object words")
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise InputError("expected a list of words", path)
    return found
