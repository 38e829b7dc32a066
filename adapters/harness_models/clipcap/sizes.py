"""Sizes of a CLIPCap model."""

from __future__ import annotations

from dataclasses import dataclass

from harness_models.shared.layers.gpt2 import Gpt2Sizes

MAPPER_HEADS = 8
"""Default number of attention heads of the transformer mapper, as in the authors' code."""


@dataclass(frozen=True, kw_only=True)
class ClipCapSizes:
    """Sizes of a CLIPCap model. The published values are given by the checkpoint."""

    mapper: str
    """Kind of the mapper: mlp, linear or transformer."""
    clip: int
    """Width of the CLIP vector."""
    prefix_length: int
    """Number of input embeddings of GPT-2 that the mapper returns."""
    gpt2: Gpt2Sizes
    """Sizes of GPT-2."""
    hidden: int = 0
    """Hidden width of the MLP, or feed-forward width of the transformer mapper."""
    clip_length: int = 0
    """Number of vectors that the transformer mapper makes of the CLIP vector."""
    layers: int = 0
    """Number of layers of the transformer mapper."""
    heads: int = MAPPER_HEADS
    """Number of attention heads of the transformer mapper."""
    normalise: bool = False
    """If true, the adapter divides the CLIP vector by its L2 norm before the mapper."""
