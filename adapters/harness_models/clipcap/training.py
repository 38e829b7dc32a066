"""Train CLIPCap on image vectors and captions: ``harness train clipcap recipe.yaml
--output models/clipcap``.

The mapper and GPT-2 start from random weights; no published weights are used. The loss
is the cross-entropy of the caption's tokens (Mokady et al. 2021, equation 1), with
padding left out by a mask. A byte-level BPE is trained on the captions. Each caption
ends with the stop token ``.``, so that the model learns to end.

The output folder holds what the ``clipcap`` adapter needs (model.safetensors,
config.json, vocab.json, merges.txt), the learning curve (curve.jsonl) and the state of
the training (state.pt).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from harness.contracts import Example
from harness.contracts.parameters import Count
from harness.errors import HarnessError, InputError, require
from harness_models.clipcap.mappers import ClipCapSizes
from harness_models.clipcap.model import ClipCap
from harness_models.shared.gpt2 import Gpt2Sizes
from harness_models.shared.inputs.vectors import open_vectors
from harness_models.shared.standardiser import Standardiser
from harness_models.shared.tokenisers.gpt2_bpe import Gpt2Bpe
from harness_models.shared.training.caption_tokens import (
    IGNORED,
    open_vocabulary,
    pad_rows,
    token_loss,
)
from harness_models.shared.training.caption_training import (
    CaptionRecipe,
    CaptionTraining,
)
from harness_models.shared.training.recipe_command import recipe_command
from harness_models.shared.training.reward_training import reward_command

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see
:class:`~harness_models.shared.training.recipe.Trainer`.
"""


@dataclass(frozen=True, kw_only=True)
class ClipCapRecipe(CaptionRecipe):
    """Data, sizes and optimisation of a CLIPCap training.

    ``features`` is a file of image vectors by example id, or ``{scenes: {...}}`` for
    rendered scenes.
    """

    system: ClassVar[str] = "clipcap"
    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 256,
        "layers": 4,
        "heads": 4,
        "positions": 128,
        "vocabulary": 1000,
        "mapper_layers": 4,
        "mapper_heads": 8,
    }
    """Default sizes of GPT-2, of the BPE (``vocabulary``),
    and of the transformer mapper.
    """

    mapper: Literal["mlp", "transformer"] = "mlp"
    """Kind of the mapper: mlp or transformer."""
    prefix_length: Count = 10
    """Number of input embeddings of GPT-2 that the mapper returns."""
    batch: Count = 40
    decay: float = 0.95


class ClipCapTraining(CaptionTraining):
    """Training of CLIPCap."""

    seed_word = "clipcap"
    recipe: ClipCapRecipe
    model: ClipCap

    def read_data(self) -> None:
        """Read the captions, train the BPE on them,
        and standardise the image vectors.
        """
        self.pairs = [(name, add_stop(text)) for name, text in self.pairs]
        vectors = read_vectors(self.recipe, self.examples)

        self.sizes = {**self.recipe.sizes, **self.recipe.model}
        self.bpe, self.write_vocabulary = open_vocabulary(
            self.folder, self.train_bpe, Gpt2Bpe
        )
        self.tokens = [self.bpe.encode(text) for _, text in self.pairs]

        longest = max(map(len, self.tokens))
        positions = self.sizes["positions"]
        if longest + self.recipe.prefix_length > positions:
            raise HarnessError(
                f"clipcap: a caption of {longest} tokens does not fit {positions} "
                "positions"
            )

        self.standard = Standardiser.fit(np.stack(list(vectors.values())))
        self.inputs = {
            name: self.standard(torch.from_numpy(vector))
            for name, vector in vectors.items()
        }

    def train_bpe(self, folder: Path) -> None:
        """Train a byte-level BPE on the captions and write its two files into a
        folder.
        """
        tokenizers = require("tokenizers", extra="models", needed_by="training CLIPCap")
        bpe = tokenizers.ByteLevelBPETokenizer()
        texts = [text for _, text in self.pairs]
        bpe.train_from_iterator(
            texts, vocab_size=self.sizes["vocabulary"], show_progress=False
        )
        bpe.save_model(str(folder))

    def build(self) -> ClipCap:
        """Return the model with initial weights."""
        width = len(next(iter(self.inputs.values())))
        return ClipCap(model_sizes(self.recipe, self.sizes, len(self.bpe), width))

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the mean loss of each token, predicted from the prefix and the tokens
        before it, and their number.
        """
        goal = pad_rows([self.tokens[i] for i in batch], IGNORED)
        vectors = torch.stack([self.inputs[self.pairs[i][0]] for i in batch])
        return token_loss(self.model.caption_logits(goal.clamp(min=0), vectors), goal)

    def settings(self) -> dict[str, Any]:
        """Return the numbers of heads, which tensor shapes do not determine."""
        return {
            "n_head": self.sizes["heads"],
            "mapper_heads": self.sizes["mapper_heads"],
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights for image vectors that are not standardised."""
        is_mlp = self.recipe.mapper == "mlp"
        first = "clip_project.model.0" if is_mlp else "clip_project.linear"
        return self.standard.fold_into(self.model.state_dict(), first)


def read_vectors(
    recipe: ClipCapRecipe, examples: Sequence[Example]
) -> dict[str, np.ndarray]:
    """Return the vector (clip,) of each id, normalised to length 1 for the transformer
    mapper, as the adapter normalises it.
    """
    source = open_vectors(recipe.source)
    source.check(examples)
    rows = {example.id: source.row(example).reshape(-1) for example in examples}

    widths = {len(row) for row in rows.values()}
    if len(widths) > 1:
        raise InputError(
            f"image vectors differ in their width: {sorted(widths)}", source.name
        )

    if recipe.mapper == "transformer":
        return {name: row / np.linalg.norm(row) for name, row in rows.items()}
    return rows


def add_stop(text: str) -> str:
    """Return the text with the stop token at its end."""
    text = text.strip()
    return text if text.endswith(".") else f"{text}."


def model_sizes(
    recipe: ClipCapRecipe, sizes: Mapping[str, int], vocabulary: int, clip: int
) -> ClipCapSizes:
    """Return the sizes of the model; raise :class:`HarnessError` for heads that do not
    divide the width.
    """
    width = sizes["width"]
    length = recipe.prefix_length
    names = ("heads", "mapper_heads") if recipe.mapper == "transformer" else ("heads",)
    for name in names:
        if width % sizes[name]:
            raise HarnessError(
                f"clipcap: {name} must divide the width {width}; found {sizes[name]}"
            )

    gpt2 = Gpt2Sizes(
        vocabulary=vocabulary,
        positions=sizes["positions"],
        width=width,
        layers=sizes["layers"],
        heads=sizes["heads"],
        inner=4 * width,
    )

    if recipe.mapper == "mlp":
        return ClipCapSizes(
            mapper="mlp",
            clip=clip,
            prefix_length=length,
            gpt2=gpt2,
            hidden=length * width // 2,
        )
    return ClipCapSizes(
        mapper="transformer",
        clip=clip,
        prefix_length=length,
        gpt2=gpt2,
        hidden=2 * width,
        clip_length=length,
        layers=sizes["mapper_layers"],
        heads=sizes["mapper_heads"],
        normalise=True,
    )


train = ClipCapTraining.train
trainer, add_arguments, run = recipe_command(ClipCapRecipe, train, FORMAT_VERSION)
by_reward = reward_command("clipcap")
