"""Train VLP on regions and captions:
``harness train vlp recipe.yaml --output models/vlp``.

The model starts from random weights and is saved with the published key names. The
WordPiece vocabulary is made from the captions. The objective is the published one
(``masked: 0.15``), or the prediction of every word at once (``masked: all``), which
gives about six times as many predicted words per pass and suits small models.

The output folder holds what the ``vlp`` adapter needs (model.safetensors, config.json,
vocab.txt), the learning curve (curve.jsonl) and the state of the training (state.pt).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from torch import nn

from harness.contracts import Example
from harness.contracts.parameters import Count, Gt, Le, Share
from harness.errors import HarnessError, InputError
from harness_models.shared.standardiser import Standardiser
from harness_models.shared.tokenisers.wordpiece import WordPiece, vocabulary_of
from harness_models.shared.training.caption_tokens import open_vocabulary, pad_rows
from harness_models.shared.training.caption_training import (
    CaptionRecipe,
    CaptionTraining,
)
from harness_models.shared.training.recipe_command import recipe_command
from harness_models.vlp.model import Vlp
from harness_models.vlp.objectives import Sentences, cloze_loss, paired_loss
from harness_models.vlp.region_sources import open_regions
from harness_models.vlp.regions import Regions
from harness_models.vlp.sizes import BertSizes, VlpSizes

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class VlpRecipe(CaptionRecipe):
    """Data, sizes and optimisation of a VLP training; the defaults are the published
    ones, except for the batch (published: 512).

    ``features`` is ``{path, boxes}`` of region features in a published layout, or
    ``{scenes: {...}}`` for rendered scenes.
    """

    system: ClassVar[str] = "vlp"
    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 768,
        "layers": 12,
        "heads": 12,
        "inner": 3072,
        "positions": 512,
        "hidden": 2048,
        "dropout": 0.1,
        "vocabulary": 28996,
    }
    """Default sizes of BERT, of the hidden layer over a region,
    and the largest vocabulary.
    """

    epochs: Count = 30
    learning_rate: float = 3e-5
    masked: Annotated[float, Gt(0), Le(1)] | Literal["all"] = 0.15
    """Share of a caption's pieces to predict, [SEP] included; or ``all``: every piece,
    each at a separate [MASK].
    """
    most_masked: Count = 3
    """Largest number of masked pieces per caption."""
    bidirectional: Share = 0.0
    """Share of captions in which all slots attend to all slots (published: 0.25 in
    pre-training, 0 in fine-tuning).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.masked == "all" and self.bidirectional:
            raise HarnessError(
                "vlp: bidirectional must be 0 with masked: all",
                parameter="bidirectional",
            )


class VlpTraining(CaptionTraining):
    """Training of VLP."""

    seed_word = "vlp"
    recipe: VlpRecipe
    model: Vlp

    def read_data(self) -> None:
        """Make the vocabulary, read the captions,
        and standardise the regions of each example id.
        """
        self.sizes = {**self.recipe.sizes, **self.recipe.model}
        texts = [text for _, text in self.pairs]
        entries = vocabulary_of(texts, self.sizes["vocabulary"])
        lines = "".join(f"{word}\n" for word in entries)
        self.words, self.write_vocabulary = open_vocabulary(
            self.folder,
            lambda folder: (folder / "vocab.txt").write_text(lines, encoding="utf-8"),
            WordPiece,
        )

        self.tokens = [
            [*self.words.encode(text), self.words.ids["[SEP]"]]
            for _, text in self.pairs
        ]

        rows = read_regions(self.recipe, self.examples)
        first = next(iter(rows.values()))
        self.count = len(first.features)
        self.widths = (first.features.shape[1], first.geometry.shape[1])

        longest = max(map(len, self.tokens)) + self.count + 2
        if longest > self.sizes["positions"]:
            raise HarnessError(
                f"vlp: {longest} slots of regions and words do not fit "
                f"{self.sizes['positions']} positions"
            )

        features = np.concatenate([row.features for row in rows.values()])
        self.standard = Standardiser.fit(features)
        self.inputs = {}
        for name, row in rows.items():
            standardised = self.standard(torch.from_numpy(row.features))
            self.inputs[name] = (standardised, torch.from_numpy(row.geometry))

    def build(self) -> Vlp:
        """Return the model of :func:`build_model`."""
        return build_model(self.sizes, self.words, *self.widths)

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the predicted pieces, and their number."""
        recipe = self.recipe
        lengths = torch.tensor([len(self.tokens[i]) for i in batch])
        tokens = pad_rows([self.tokens[i] for i in batch], self.words.ids["[PAD]"])
        inputs = [self.inputs[self.pairs[i][0]] for i in batch]
        regions, geometry = map(torch.stack, zip(*inputs))

        sentences = Sentences(tokens, lengths, regions, geometry)
        if isinstance(recipe.masked, str):
            return paired_loss(self.model, sentences)
        return cloze_loss(
            self.model,
            sentences,
            recipe.masked,
            recipe.most_masked,
            recipe.bidirectional,
        )

    def settings(self) -> dict[str, Any]:
        """Return heads, special ids, number of regions and longest caption."""
        return {
            "num_attention_heads": self.model.sizes.bert.heads,
            "special_ids": self.words.special(),
            "regions": self.count,
            "max_length": max(map(len, self.tokens)),
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights for regions that are not standardised."""
        return self.standard.fold_into(self.model.state_dict(), "vis_embed.0")


def read_regions(recipe: VlpRecipe, examples: Sequence[Example]) -> dict[str, Regions]:
    """Return the regions of each example by id;
    raise :class:`InputError` if their shapes differ.
    """
    source = open_regions(recipe.source)
    rows = {example.id: source.read(example) for example in examples}
    shapes = {(row.features.shape, row.geometry.shape) for row in rows.values()}
    if len(shapes) > 1:
        raise InputError(
            f"images differ in the shapes of their regions: {sorted(shapes)}",
            source.name,
        )
    return rows


def build_model(
    sizes: Mapping[str, Any], words: WordPiece, region: int, geometry: int
) -> Vlp:
    """Return a model with BERT's initial weights (normal,
    standard deviation 0.02) and tied word embeddings.

    The region layers have torch's initial weights.
    """
    bert = BertSizes(
        vocabulary=len(words),
        width=sizes["width"],
        layers=sizes["layers"],
        heads=sizes["heads"],
        inner=sizes["inner"],
        positions=sizes["positions"],
        segments=6,
        dropout=sizes["dropout"],
    )

    if bert.width % bert.heads:
        raise HarnessError(
            f"vlp: heads must divide the width {bert.width}; found {bert.heads}"
        )

    model = Vlp(
        VlpSizes(
            bert=bert,
            region=region,
            hidden=sizes["hidden"],
            geometry=geometry,
            special_ids=words.special(),
        )
    )

    for layer in (*model.bert.modules(), *model.cls.modules()):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            nn.init.normal_(layer.weight, std=0.02)
        if isinstance(layer, nn.Linear) and layer.bias is not None:
            nn.init.zeros_(layer.bias)
    model.cls.predictions.decoder.weight = model.bert.embeddings.word_embeddings.weight
    return model


train = VlpTraining.train
trainer, add_arguments, run = recipe_command(VlpRecipe, train, FORMAT_VERSION)
