"""Train VLP on regions and captions: ``harness train vlp recipe.yaml --output models/vlp``.

The model starts from random weights and is saved with the published key names. The WordPiece vocabulary is made from the captions. The
objective is the published one (``masked: 0.15``), or the prediction of every word at once (``masked: all``), which gives about six
times as many predicted words per pass and suits small models.

The output folder holds what the ``vlp`` adapter needs (model.safetensors, config.json, vocab.txt), the learning curve (curve.jsonl) and the
state of the training (state.pt).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from harness.adapters.shared.layers.standardise import Standardiser
from harness.adapters.shared.tokenisers.wordpiece import WordPiece, vocabulary_of
from harness.adapters.shared.training.caption_recipe import CaptionRecipe
from harness.adapters.shared.training.loop import Report, has_run
from harness.adapters.shared.training.recipe_command import recipe_command
from harness.adapters.shared.weights.checkpoints import save_checkpoint
from harness.adapters.vlp.bert import BertSizes
from harness.adapters.vlp.model import Vlp, VlpSizes
from harness.adapters.vlp.objectives import Sentences, cloze, paired
from harness.adapters.vlp.region_sources import open_regions
from harness.adapters.vlp.regions import Regions
from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness.stats.seeds import derive

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see :class:`~harness.adapters.shared.training.recipe.Trainer`."""


@dataclass(frozen=True, kw_only=True)
class VlpRecipe(CaptionRecipe):
    """Data, sizes and optimisation of a VLP training; the defaults are the published ones, except for the batch (published: 512).

    ``features`` is ``{path, boxes}`` of region features in a published layout, or ``{scenes: {...}}`` for rendered scenes.
    """

    system: ClassVar[str] = "vlp"
    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 768, "layers": 12, "heads": 12, "inner": 3072, "positions": 512, "hidden": 2048, "dropout": 0.1,
        "vocabulary": 28996,
    }  # fmt: skip
    """Default sizes of BERT, of the hidden layer over a region, and the largest vocabulary."""

    epochs: int = 30
    learning_rate: float = 3e-5
    masked: float | str = 0.15
    """Share of a caption's pieces to predict, [SEP] included; or ``all``: every piece, each at a separate [MASK]."""
    most_masked: int = 3
    """Largest number of masked pieces per caption."""
    bidirectional: float = 0.0
    """Share of captions in which all slots attend to all slots (published: 0.25 in pre-training, 0 in fine-tuning)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.masked != "all" and not (isinstance(self.masked, (int, float)) and 0 < self.masked <= 1):
            raise HarnessError(f"vlp: masked is a share of the words, or all; found {self.masked!r}")
        if not 0 <= self.bidirectional <= 1 or (self.masked == "all" and self.bidirectional):
            raise HarnessError("vlp: bidirectional is a share from 0 to 1, and must be 0 with masked: all")
        if not isinstance(self.most_masked, int) or self.most_masked < 1:
            raise HarnessError(f"vlp: most_masked is a whole number, at least 1; found {self.most_masked!r}")


def train(recipe: VlpRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
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
        If the folder holds another run, or the captions do not fit the sizes.
    InputError
        If captions or regions are missing or malformed.
    """
    trainer = _VlpTraining(recipe, Path(output), resume)
    trainer.loop.run(report)
    return trainer.finish()


class _VlpTraining:
    """Data, model and loss of one training."""

    def __init__(self, recipe: VlpRecipe, folder: Path, resume: bool) -> None:
        self.recipe, self.folder = recipe, folder
        self.pairs = recipe.pairs()
        sizes = {**recipe.sizes, **recipe.model}
        self.words, save_vocabulary = _vocabulary([text for _, text in self.pairs], sizes["vocabulary"], folder)
        self.tokens = [[*self.words.encode(text), self.words.ids["[SEP]"]] for _, text in self.pairs]
        rows = _regions(recipe, list(dict.fromkeys(name for name, _ in self.pairs)))
        self.count, region = next(iter(rows.values())).features.shape
        longest = max(map(len, self.tokens)) + self.count + 2
        if longest > sizes["positions"]:
            raise HarnessError(f"vlp: {longest} slots of regions and words do not fit {sizes['positions']} positions")
        self.standard = Standardiser.fit(np.concatenate([row.features for row in rows.values()]))
        self.inputs = {
            name: (self.standard(torch.from_numpy(row.features)), torch.from_numpy(row.geometry))
            for name, row in rows.items()
        }
        torch.manual_seed(derive(recipe.seed, "vlp"))
        self.model = _model(sizes, self.words, region, next(iter(rows.values())).geometry.shape[1])
        self.loop = recipe.loop(self.model, self._loss, len(self.pairs), folder, resume=resume)
        save_vocabulary()

    def _loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        lengths = torch.tensor([len(self.tokens[i]) for i in batch])
        tokens = torch.full((len(batch), int(lengths.max())), self.words.ids["[PAD]"])
        for row, i in zip(tokens, batch):
            row[: len(self.tokens[i])] = torch.tensor(self.tokens[i])
        regions, geometry = (torch.stack(part) for part in zip(*(self.inputs[self.pairs[i][0]] for i in batch)))
        sentences = Sentences(tokens, lengths, regions, geometry)
        if isinstance(self.recipe.masked, str):
            return paired(self.model, sentences)
        recipe = self.recipe
        return cloze(self.model, sentences, self.recipe.masked, recipe.most_masked, recipe.bidirectional)

    def finish(self) -> Path:
        """Save the model with its configuration and return the path of the weights."""
        settings = {
            "num_attention_heads": self.model.sizes.bert.heads, "special_ids": self.words.special(),
            "regions": self.count, "max_length": max(map(len, self.tokens)), **self.recipe.checkpoint_config(self.loop.epoch),
        }  # fmt: skip
        tensors = self.standard.fold_into(self.model.state_dict(), "vis_embed.0")
        return save_checkpoint(tensors, settings, self.folder, force=True)


def _vocabulary(texts: list[str], size: int, folder: Path) -> tuple[WordPiece, Callable[[], object]]:
    """Return the vocabulary of the run in ``folder``, else one made from the captions, and the function that writes it into the folder.

    The function is called after all checks, so that a failed training leaves no files.
    """
    if has_run(folder):
        return WordPiece(folder), lambda: None
    lines = "".join(f"{word}\n" for word in vocabulary_of(texts, size))
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "vocab.txt"
        file.write_text(lines, encoding="utf-8")
        return WordPiece(file), lambda: (folder / "vocab.txt").write_text(lines, encoding="utf-8")


def _regions(recipe: VlpRecipe, ids: Sequence[str]) -> dict[str, Regions]:
    """Return the regions of each example id; raise :class:`InputError` if their shapes differ."""
    source = open_regions(recipe.source)
    rows = {name: source.read(Example(name, ("-",))) for name in ids}
    shapes = {(row.features.shape, row.geometry.shape) for row in rows.values()}
    if len(shapes) > 1:
        raise InputError(f"images differ in the shapes of their regions: {sorted(shapes)}", source.name)
    return rows


def _model(sizes: Mapping[str, Any], words: WordPiece, region: int, geometry: int) -> Vlp:
    """Return a model with BERT's initial weights (normal, standard deviation 0.02) and tied word embeddings.

    The region layers have torch's initial weights.
    """
    bert = BertSizes(
        vocabulary=len(words), width=sizes["width"], layers=sizes["layers"], heads=sizes["heads"], inner=sizes["inner"],
        positions=sizes["positions"], segments=6, dropout=sizes["dropout"],
    )  # fmt: skip
    if bert.width % bert.heads:
        raise HarnessError(f"vlp: heads must divide the width {bert.width}; found {bert.heads}")
    model = Vlp(
        VlpSizes(bert=bert, region=region, hidden=sizes["hidden"], geometry=geometry, special_ids=words.special())
    )
    for part in (*model.bert.modules(), *model.cls.modules()):
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=0.02)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
    model.cls.predictions.decoder.weight = model.bert.embeddings.word_embeddings.weight
    return model


trainer, add_arguments, run = recipe_command(VlpRecipe, train, FORMAT_VERSION)
