"""O2NA network of this project: NAB's network with a predictor of objects and their
positions.

Liu et al. 2021 (O2NA, Findings of ACL, arXiv 2108.02359) describe three steps: predict
the focused objects and their positions in the caption; generate attribute and relation
words around them; refine the draft with the video. Their code and the body of the paper
were not available. Encoder, length predictor and decoder are those of
:mod:`harness_models.o2na.network`; the object predictor is designed here.

- *Objects*: one sigmoid score per word of an object vocabulary, from the mean memory
  and the length L of the caption.
- *Positions*: softmax over the L slots for each selected object, from the mean memory,
  L, the slot, and the sum of the vectors of the selected objects.
- *Requested objects* change the length: its probability is multiplied by theirs at that
  length (Bayes' rule).

Shapes: ``B`` captions, ``O`` object words, ``T`` slots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from harness_models.o2na.layers import VideoSizes
from harness_models.o2na.network import VideoNetwork, sizes_of
from harness_models.shared.weights.checkpoint_config import read_config
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly

NAME = "O2NA as 'harness train o2na' writes it"
"""Name of the architecture in error messages."""


class ObjectPredictor(nn.Module):
    """Predictor of objects and their positions.

    Parameters
    ----------
    sizes
        Sizes of the network.
    count
        Number O of object words.
    """

    words: torch.Tensor
    """Word id of each object, (O,)."""

    def __init__(self, sizes: VideoSizes, count: int) -> None:
        super().__init__()
        width = sizes.width
        self.register_buffer("words", torch.zeros(count, dtype=torch.long))

        self.detect = nn.Sequential(
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(sizes.dropout),
            nn.Linear(width, count),
        )

        self.objects = nn.Embedding(count, width)
        self.slots = nn.Embedding(sizes.max_len, width)
        self.lengths = nn.Embedding(sizes.max_len, width)
        self.place = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )

    def object_logits(self, mean: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return logits (B, O) of each object's occurrence in a caption, for mean
        memories (B, width) and lengths (B,).
        """
        return self.detect(mean + self.lengths(lengths))

    def length_log_probs(
        self, log_probs: torch.Tensor, mean: torch.Tensor, objects: torch.Tensor
    ) -> torch.Tensor:
        """Return log-probabilities (B, max_len) of the length of captions that contain
        requested objects.

        Parameters
        ----------
        log_probs
            Log-probabilities (B, max_len) of the length without requested objects.
        mean
            Mean memories (B, width).
        objects
            Requested objects (B, O) bool.
        """
        logits = self.detect(mean[:, None] + self.lengths.weight[None])
        return (
            log_probs + (F.logsigmoid(logits) * objects[:, None].to(mean)).sum(2)
        ).log_softmax(1)

    def position_logits(
        self, mean: torch.Tensor, lengths: torch.Tensor, objects: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (B, O, T) over the slots for every object,
        -inf beyond the length of a caption.

        Parameters
        ----------
        mean
            Mean memories (B, width).
        lengths
            Number of words (B,); T is the largest.
        objects
            Selected objects (B, O) bool.
        """
        size = int(lengths.max())
        about = mean + self.lengths(lengths) + objects.to(mean) @ self.objects.weight
        mixed = self.place(about[:, None] + self.slots.weight[None, :size])
        logits = torch.einsum("btw,ow->bot", mixed, self.objects.weight) / math.sqrt(
            mixed.shape[-1]
        )
        beyond = torch.arange(size, device=lengths.device)[None] >= lengths[:, None]
        return logits.masked_fill(beyond[:, None], float("-inf"))


class O2na(VideoNetwork):
    """NAB's network with an :class:`ObjectPredictor`.

    Drafts are predicted from ``vis`` in the open slots, and refined from ``mask``.
    """

    def __init__(self, sizes: VideoSizes, objects: int) -> None:
        super().__init__(sizes)
        self.object_predictor = ObjectPredictor(sizes, objects)

    @classmethod
    def from_checkpoint(
        cls,
        path: str | Path | Checkpoint,
        config: Mapping[str, Any] | str | Path | None = None,
    ) -> O2na:
        """Return the model of a run's folder or file, in evaluation mode.

        Raises
        ------
        InputError
            If tensors are missing, unexpected or of another shape; the message lists
            them. A checkpoint of the paper's authors is refused in this way, because
            its key names are not known.
        """
        checkpoint = path if isinstance(path, Checkpoint) else load_checkpoint(path)
        objects = checkpoint.shapes().get("object_predictor.objects.weight", (1,))[0]
        settings = {**checkpoint.settings, **read_config(config)}
        model = cls(VideoSizes(**sizes_of(checkpoint, settings, "O2NA")), objects)
        load_strictly(model, checkpoint, NAME)
        return model
