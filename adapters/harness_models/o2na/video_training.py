"""Training on videos of models that fill the slots of a caption: data and sizes.

Features are standardised in training. Mean and standard deviation are folded into the
first layers of the saved model, which takes unstandardised features and has the key
names of NACF's authors. The output folder also holds the learning curve (curve.jsonl)
and the state of the training (state.pt).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from harness.contracts.parameters import Count, check_fields
from harness.errors import HarnessError, InputError
from harness_models.o2na.layers import PAD, VideoSizes
from harness_models.o2na.network import Encoded, VideoNetwork
from harness_models.o2na.word_list import SPECIAL, VideoWords, split_words
from harness_models.shared.inputs.videos import open_videos
from harness_models.shared.standardiser import Standardiser
from harness_models.shared.tokenisers.word_list import frequent_words
from harness_models.shared.training.caption_tokens import pad_rows
from harness_models.shared.training.caption_training import (
    CaptionRecipe,
    CaptionTraining,
)


@dataclass(frozen=True, kw_only=True)
class VideoRecipe(CaptionRecipe):
    """Common fields of the recipes of models on videos.

    ``features`` is ``{m: file, i: file}`` or ``{scenes: {frames, stride}}``. ``model``
    has the keys width, layers, heads, inner, dropout and max_len (default: longest
    caption + 2, at most 30).
    """

    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 512,
        "layers": 1,
        "heads": 8,
        "inner": 2048,
        "dropout": 0.5,
        "max_len": None,
    }

    frames: Count = 8
    """Number of frames selected from each feature series, for files."""
    epochs: Count = 50
    learning_rate: float = 5e-4
    decay: float = 0.98
    least_count: Count = 1
    """Words with fewer occurrences are unknown."""
    clip: float = 5.0


@dataclass(frozen=True)
class Batch:
    """Batch of B captions and the encoder output of their videos."""

    tokens: torch.Tensor
    """Word ids (B, T), 0 after the end."""
    encoded: Encoded
    """Encoder output with one row per caption."""
    rows: torch.Tensor
    """Numbers (B,) of the videos."""


class VideoTraining(CaptionTraining):
    """Data, length loss and saving of a training on videos; a subclass defines
    ``method``, ``build`` and ``losses``.
    """

    # of all video models: another word would change the weights of stored recipes
    seed_word = "o2na"
    recipe: VideoRecipe
    model: VideoNetwork
    method: str
    """Name of the method, which is stored with the weights."""

    def read_data(self) -> None:
        """Read captions, word list and features."""
        self.texts = [split_words(caption) for _, caption in self.pairs]
        for (name, caption), words in zip(self.pairs, self.texts):
            if not words:
                raise InputError(
                    f"a caption of example '{name}' has no words: {caption!r}",
                    self.recipe.captions,
                )

        self.words = VideoWords(
            frequent_words(self.texts, self.recipe.least_count, SPECIAL)
        )
        row_of = {example.id: row for row, example in enumerate(self.examples)}
        self.owner = [row_of[name] for name, _ in self.pairs]

        self.sizes = self._sizes()
        longest = self.sizes.max_len - 2
        self.captions = [
            self.words.encode(" ".join(words))[:longest] for words in self.texts
        ]
        # A video has captions of several lengths: the predictor learns their
        # distribution, not the length of one of them.
        self.length_goals = self._length_goals()

    def losses(self, batch: Batch) -> tuple[torch.Tensor, int]:
        """Return the mean loss per predicted token, without the length loss, and the
        number of predicted tokens.
        """
        raise NotImplementedError

    def build_sizes(self, **sizes: Any) -> VideoSizes:
        """Return the sizes of the model."""
        return VideoSizes(**sizes)

    def _read_features(self) -> dict[str, int]:
        """Read and standardise the features, one tensor (videos, frames, width) per
        modality, and return their widths.
        """
        videos = open_videos(self.recipe.source, self.recipe.frames)
        videos.check(self.examples)

        widths = videos.widths(self.examples[0])
        rows = (videos.read(example, widths) for example in self.examples)
        series = list(map(np.stack, zip(*rows)))

        self.standards = [Standardiser.fit(x.reshape(-1, x.shape[-1])) for x in series]
        self.features = [
            standard(torch.from_numpy(x)) for x, standard in zip(series, self.standards)
        ]
        return widths

    def _sizes(self) -> VideoSizes:
        system = self.recipe.system
        sizes = {**self.recipe.sizes, **self.recipe.model}
        if sizes["max_len"] is None:
            sizes["max_len"] = min(30, max(map(len, self.texts)) + 2)
        model_sizes = self.build_sizes(
            features=self._read_features(), vocabulary=len(self.words), **sizes
        )
        check_fields(f"{system}: model", model_sizes)

        if model_sizes.width % model_sizes.heads:
            raise HarnessError(
                f"{system}: model: heads must divide the width {model_sizes.width}; "
                f"found {model_sizes.heads}"
            )
        return model_sizes

    def _length_goals(self) -> torch.Tensor:
        """Return the share (videos, max_len) of each video's captions that have each
        number of words.
        """
        counts = torch.zeros(len(self.examples), self.sizes.max_len)
        for row, caption in zip(self.owner, self.captions):
            counts[row, len(caption)] += 1
        return counts / counts.sum(1, keepdim=True)

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the loss of the words, plus the cross-entropy of the length where the
        model predicts it.
        """
        tokens = pad_rows([self.captions[i] for i in batch], PAD)
        rows = torch.tensor([self.owner[i] for i in batch])
        encoded = self.model.encode([x[rows] for x in self.features])
        loss, count = self.losses(Batch(tokens, encoded, rows))
        if encoded.lengths is not None:
            loss = loss - (self.length_goals[rows] * encoded.lengths).sum(1).mean()
        return loss, count

    def settings(self) -> dict[str, Any]:
        """Return the settings under the authors' names, and the words."""
        sizes = self.sizes
        return {
            "method": self.method,
            "modality": "".join(sizes.features),
            "dim_hidden": sizes.width,
            "max_len": sizes.max_len,
            "num_attention_heads": sizes.heads,
            "vocab_size": sizes.vocabulary,
            "enhance_input": 2,
            "hidden_act": sizes.activation,
            "layer_norm_eps": sizes.eps,
            "shortest": min(map(len, self.captions)),
            "words": self.words.words,
            "frames": self.recipe.frames,
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights for features that are not standardised."""
        tensors = dict(self.model.state_dict())
        for name, standard in zip(self.sizes.features, self.standards):
            tensors = standard.fold_into(tensors, f"encoder.Encoder_{name.upper()}.0")
        return tensors
