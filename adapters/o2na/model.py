"""Our O2NA: a NACF-style captioner that begins with the objects a caption is to be about.

Liu et al. 2021 (O2NA, Findings of ACL, arXiv 2108.02359) describe three steps: predict the focused objects and their places in the
caption; generate attribute and relation words around them; refine the draft with the video. Neither their code nor the body of the paper
could be had: encoder, length predictor and decoder are NACF's (:mod:`harness.adapters.nacf.model`), and the object predictor is ours.

- *Which objects*: one sigmoid score per word of an object vocabulary, from the mean memory and the caption's length L.
- *Which places*: softmax over the L slots for every chosen object, from the mean memory, L, the slot, and the sum of the chosen
  objects' vectors.
- *Given objects* bear on the length: its probability is multiplied by theirs at that length (Bayes' rule).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from harness.adapters.nacf.layers import NacfSizes
from harness.adapters.nacf.model import Nacf
from harness.adapters.shared.weights.checkpoint_config import heads_of, read_config
from harness.adapters.shared.weights.checkpoints import Checkpoint, layer_count, load_checkpoint, load_strictly

NAME = "O2NA as 'harness train o2na' writes it"


class ObjectPredictor(nn.Module):
    """Step 1. ``words`` (O,): the word id of each object."""

    words: torch.Tensor

    def __init__(self, sizes: NacfSizes, count: int) -> None:
        super().__init__()
        width = sizes.width
        self.register_buffer("words", torch.zeros(count, dtype=torch.long))
        self.detect = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(sizes.dropout), nn.Linear(width, count)
        )
        self.objects = nn.Embedding(count, width)
        self.slots, self.lengths = nn.Embedding(sizes.max_len, width), nn.Embedding(sizes.max_len, width)
        self.place = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def detected(self, mean: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """(B, O) logits: is the object in the caption of so many words (B,)?"""
        return self.detect(mean + self.lengths(lengths))

    def lengths_with(self, log_probs: torch.Tensor, mean: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
        """(B, max_len) log-probabilities of the length where the objects ``given`` (B, O) bool are in the caption."""
        every = self.detect(mean[:, None] + self.lengths.weight[None])
        return (log_probs + (F.logsigmoid(every) * given[:, None].to(mean)).sum(2)).log_softmax(1)

    def placed(self, mean: torch.Tensor, lengths: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """(B, O, T) logits over the slots for every object, -inf beyond a caption's length (B,); ``chosen`` (B, O) bool."""
        size = int(lengths.max())
        about = mean + self.lengths(lengths) + chosen.to(mean) @ self.objects.weight
        mixed = self.place(about[:, None] + self.slots.weight[None, :size])
        logits = torch.einsum("btw,ow->bot", mixed, self.objects.weight) / math.sqrt(mixed.shape[-1])
        beyond = torch.arange(size, device=lengths.device)[None] >= lengths[:, None]
        return logits.masked_fill(beyond[:, None], float("-inf"))


class O2na(Nacf):
    """NAB's network with an :class:`ObjectPredictor`; drafts are written from ``vis`` in the open slots, refined from ``mask``."""

    def __init__(self, sizes: NacfSizes, objects: int) -> None:
        super().__init__(sizes)
        self.object_predictor = ObjectPredictor(sizes, objects)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path | Checkpoint, config: Mapping[str, Any] | str | Path | None = None
    ) -> O2na:
        """The model of a run's folder or file, in evaluation mode.

        Raises :class:`InputError` listing every missing, unexpected and misshapen tensor; nothing is loaded then. A checkpoint of the
        paper's authors is refused so: its key names are not known.
        """
        checkpoint = path if isinstance(path, Checkpoint) else load_checkpoint(path)
        settings = {**checkpoint.settings, **read_config(config)}
        model = cls(*_sizes(checkpoint, settings))
        load_strictly(model, checkpoint, NAME)
        return model


def _sizes(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> tuple[NacfSizes, int]:
    """Sizes from the shapes; where a tensor is missing or of another rank, the published size, so that the comparison lists it."""

    def shape(key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        found = checkpoint.shapes().get(key, ())
        return found if len(found) == len(default) else default

    words = shape("tgt_word_prj.weight", (1000, 512))
    vocabulary, width = shape("decoder.embedding.word_embeddings.weight", words)
    letters = settings.get("modality") or "mi"
    features = {name: shape(f"encoder.Encoder_{name.upper()}.0.weight", (width, 2048))[1] for name in letters}
    sizes = NacfSizes(
        method="O2NA", features=features, width=width, vocabulary=vocabulary,
        layers=max(1, layer_count(checkpoint.tensors, r"decoder\.layer\.(\d+)\.")),
        heads=heads_of(settings, "num_attention_heads", width, 8, str(checkpoint.path)),
        inner=shape("decoder.layer.0.intermediate.dense.weight", (2048, width))[0],
        max_len=shape("decoder.embedding.position_embeddings.weight", (30, width))[0],
    )  # fmt: skip
    return sizes, shape("object_predictor.objects.weight", (1, width))[0]
