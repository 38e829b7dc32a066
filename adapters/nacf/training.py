"""Training of ARB, NAB and NACF on feature files or rendered scenes: ``harness train nacf``.

ARB: cross-entropy from left to right. NAB: in each caption a random number of words, at random places, is masked and predicted (as in
Mask-Predict, Ghazvininejad et al. 2019), and the length predictor is held to the distribution of the video's caption lengths. NACF:
besides, from ``vis`` in every slot the visual words are predicted, and ``mask`` everywhere else.

Features are standardised for training; what is saved takes them as they are, with mean and deviation folded into the first layers,
under the authors' key names. Folder, log, resuming and determinism: :mod:`harness.adapters.shared.training.loop`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn import functional as F

from harness.adapters.nacf.visual_words import is_visual
from harness.adapters.nacf.layers import BOS, EOS, MASK, PAD, VIS, NacfSizes
from harness.adapters.nacf.model import Encoded, Nacf
from harness.adapters.nacf.video_features import open_videos
from harness.adapters.nacf.word_list import Words, split_words, vocabulary
from harness.adapters.shared.layers.standardise import Standard
from harness.adapters.shared.training.caption_recipe import CaptionRecipe
from harness.adapters.shared.training.loop import Report
from harness.adapters.shared.weights.checkpoints import save_checkpoint
from harness.contracts import Example
from harness.errors import HarnessError, InputError, did_you_mean
from harness.stats.seeds import derive

METHODS = ("ARB", "NAB", "NACF")
IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class VideoRecipe(CaptionRecipe):
    """What the recipes of ``nacf`` and ``o2na`` share. ``features``: ``{m: file, i: file}`` or ``{scenes: {frames, stride}}``; ``model``:
    width, layers, heads, inner, dropout, and max_len (left out: longest caption + 2, at most 30)."""

    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 512, "layers": 1, "heads": 8, "inner": 2048, "dropout": 0.5, "max_len": None
    }  # fmt: skip

    frames: int = 8
    """Frames taken of each feature series (files)."""
    epochs: int = 50
    learning_rate: float = 5e-4
    decay: float = 0.98
    least_count: int = 1
    """Words seen less often are unknown."""
    clip: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("frames", "least_count"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise HarnessError(f"{self.system}: {name} is a whole number, at least 1; found {value!r}")


@dataclass(frozen=True, kw_only=True)
class NacfRecipe(VideoRecipe):
    """A recipe of the NACF family."""

    system: ClassVar[str] = "nacf"

    method: str = "NACF"
    """ARB, NAB or NACF."""
    visual: Sequence[str] | None = None
    """NACF: the visual words; left out, all words that :func:`~harness.adapters.nacf.visual_words.is_visual`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in METHODS:
            raise HarnessError(
                f"nacf: method is one of {', '.join(METHODS)}; found {self.method!r}{did_you_mean(self.method, METHODS)}"
            )


def train(recipe: NacfRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train and save; gives the path of the weights. Raises :class:`HarnessError` when the folder holds another run."""
    trainer = NacfTrainer(recipe, Path(output), resume)
    trainer.loop.run(report)
    return trainer.finish()


@dataclass(frozen=True)
class Batch:
    """B captions and their encoded videos."""

    tokens: torch.Tensor
    """(B, T) word ids, 0 after the end."""
    encoded: Encoded
    rows: torch.Tensor
    """(B,) rows of the videos."""


class VideoTrainer:
    """Data, standardising, the length loss, and saving; a subclass gives ``build`` and ``losses``."""

    def __init__(self, recipe: VideoRecipe, folder: Path, resume: bool) -> None:
        self.recipe, self.folder = recipe, folder
        pairs = recipe.pairs()
        self.texts = [split_words(caption) for _, caption in pairs]
        for (name, caption), words in zip(pairs, self.texts):
            if not words:
                raise InputError(f"a caption of example '{name}' has no words: {caption!r}", recipe.captions)
        self.words = Words(vocabulary(self.texts, recipe.least_count))
        self.ids = list(dict.fromkeys(name for name, _ in pairs))
        row_of = {name: row for row, name in enumerate(self.ids)}
        self.owner = [row_of[name] for name, _ in pairs]
        self.sizes = self._sizes()
        longest = self.sizes.max_len - 2
        self.captions = [self.words.encode(" ".join(words))[:longest] for words in self.texts]
        self.length_goals = self._length_goals()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(recipe.seed, "o2na"))
            self.model = self.build()
        self.loop = recipe.loop(self.model, self._loss, len(pairs), folder, resume=resume)

    def build(self) -> Nacf:
        """The model, with new weights."""
        raise NotImplementedError

    def losses(self, batch: Batch) -> tuple[torch.Tensor, int]:
        """The mean loss per predicted token and how many tokens it is the mean of, less the length loss."""
        raise NotImplementedError

    @property
    def method(self) -> str:
        raise NotImplementedError

    # ------------------------------------------------------------------ data
    def _read(self) -> dict[str, int]:
        """Features, standardised, one (videos, frames, width) array per modality; gives the widths."""
        videos = open_videos(self.recipe.source, self.recipe.frames)
        examples = [Example(name, ("-",)) for name in self.ids]
        videos.check(examples)
        widths = videos.widths(examples[0])
        series = [np.stack(part) for part in zip(*(videos.read(example, widths) for example in examples))]
        self.standards = [Standard.of(x.reshape(-1, x.shape[-1])) for x in series]
        self.features = [standard(torch.from_numpy(x)) for x, standard in zip(series, self.standards)]
        return widths

    def _sizes(self) -> NacfSizes:
        system, given = self.recipe.system, {**self.recipe.sizes, **self.recipe.model}
        if given["max_len"] is None:
            given["max_len"] = min(30, max(map(len, self.texts)) + 2)
        for name in ("width", "layers", "heads", "inner", "max_len"):
            if not isinstance(given[name], int) or given[name] < (3 if name == "max_len" else 1):
                raise HarnessError(f"{system}: model: {name} = {given[name]!r} is no size")
        if given["width"] % given["heads"]:
            raise HarnessError(f"{system}: model: heads must divide the width {given['width']}; found {given['heads']}")
        if not isinstance(given["dropout"], (int, float)) or not 0 <= given["dropout"] < 1:
            raise HarnessError(f"{system}: model: dropout is from 0 to below 1; found {given['dropout']!r}")
        return NacfSizes(method=self.method, features=self._read(), vocabulary=len(self.words), **given)

    def _length_goals(self) -> torch.Tensor:
        """(videos, max_len): how often each number of words is that of a caption of the video."""
        counts = torch.zeros(len(self.ids), self.sizes.max_len)
        for row, caption in zip(self.owner, self.captions):
            counts[row, len(caption)] += 1
        return counts / counts.sum(1, keepdim=True)

    # ------------------------------------------------------------------ loss
    def _loss(self, chosen: Sequence[int]) -> tuple[torch.Tensor, int]:
        tokens = torch.full((len(chosen), max(len(self.captions[i]) for i in chosen)), PAD)
        for row, i in zip(tokens, chosen):
            row[: len(self.captions[i])] = torch.tensor(self.captions[i])
        rows = torch.tensor([self.owner[i] for i in chosen])
        encoded = self.model.encode([x[rows] for x in self.features])
        loss, count = self.losses(Batch(tokens, encoded, rows))
        if encoded.lengths is not None:
            loss = loss - (self.length_goals[rows] * encoded.lengths).sum(1).mean()
        return loss, count

    # ------------------------------------------------------------------ saving
    def finish(self) -> Path:
        sizes, recipe = self.sizes, self.recipe
        settings = {
            "method": sizes.method, "modality": "".join(sizes.features), "dim_hidden": sizes.width, "max_len": sizes.max_len,
            "num_attention_heads": sizes.heads, "vocab_size": sizes.vocabulary, "enhance_input": sizes.enhance,
            "hidden_act": sizes.activation, "layer_norm_eps": sizes.eps, "shortest": min(map(len, self.captions)),
            "words": self.words.words, "frames": recipe.frames, **recipe.settings(self.loop.epoch),
        }  # fmt: skip
        return save_checkpoint(self._plain(), settings, self.folder, force=True)

    def _plain(self) -> dict[str, torch.Tensor]:
        """The weights for features as they stand."""
        tensors = dict(self.model.state_dict())
        for name, standard in zip(self.sizes.features, self.standards):
            tensors = standard.into(tensors, f"encoder.Encoder_{name.upper()}.0")
        return tensors


class NacfTrainer(VideoTrainer):
    recipe: NacfRecipe

    @property
    def method(self) -> str:
        return self.recipe.method

    def build(self) -> Nacf:
        self.visual = torch.tensor(self._visual())
        return Nacf(self.sizes)

    def _visual(self) -> list[bool]:
        """Which words of the list are visual."""
        given, known = self.recipe.visual, self.words
        if given is None:
            return [i > VIS and is_visual(word) for i, word in enumerate(known.words)]
        for word in given:
            if word not in known.ids:
                raise HarnessError(f"nacf: visual: no caption has the word '{word}'{did_you_mean(word, known.ids)}")
        return [word in set(given) for word in known.words]

    def losses(self, batch: Batch) -> tuple[torch.Tensor, int]:
        if self.sizes.left_to_right:
            return left_to_right_loss(self.model, batch)
        loss, count = masked_words_loss(self.model, batch)
        if self.sizes.disentangled:
            loss = loss + self._template_loss(batch)
        return loss, count

    def _template_loss(self, batch: Batch) -> torch.Tensor:
        pad = batch.tokens == PAD
        goal = torch.where(self.visual[batch.tokens], batch.tokens, MASK).masked_fill(pad, IGNORED)
        slots = torch.full_like(goal, VIS).masked_fill(pad, PAD)
        return cross_entropy(self.model.logits(slots, batch.encoded), goal)


# --------------------------------------------------------------------------- losses
def cross_entropy(logits: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
    """Mean over the slots of ``goal`` (B, T) that are not ignored; 0 where there are none."""
    flat = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=IGNORED, reduction="sum"
    )
    return flat / (goal != IGNORED).sum().clamp(min=1)


def left_to_right_loss(model: Nacf, batch: Batch) -> tuple[torch.Tensor, int]:
    """Every word and the end from the words before it."""
    tokens = batch.tokens
    start = torch.full_like(tokens[:, :1], BOS)
    goal = torch.cat([tokens, torch.full_like(start, PAD)], dim=1)
    lengths = (tokens != PAD).sum(1, keepdim=True)
    goal = goal.scatter(1, lengths, EOS)
    logits = model.logits(torch.cat([start, tokens], dim=1), batch.encoded)
    return cross_entropy(logits, goal.masked_fill(goal == PAD, IGNORED)), int((goal != PAD).sum())


def masked_words_loss(model: Nacf, batch: Batch) -> tuple[torch.Tensor, int]:
    """One to all words of each caption, at random places, from the others."""
    tokens, real = batch.tokens, batch.tokens != PAD
    lengths = real.sum(1, keepdim=True)
    count = 1 + (torch.rand(len(tokens), 1) * lengths).long().clamp(max=lengths - 1)
    places = torch.rand(tokens.shape).masked_fill(~real, 2.0).argsort(1).argsort(1)
    hidden = (places < count) & real
    logits = model.logits(tokens.masked_fill(hidden, MASK), batch.encoded)
    return cross_entropy(logits, tokens.masked_fill(~hidden, IGNORED)), int(hidden.sum())
