"""Sizes of a VLP model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EPS = 1e-5
"""Epsilon of the LayerNorms."""
SPECIAL_IDS = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
"""Ids of the special tokens in the vocabulary of BERT-base-cased."""


@dataclass(frozen=True, kw_only=True)
class BertSizes:
    """Sizes of BERT."""

    vocabulary: int
    """Number of tokens."""
    width: int
    """Width of hidden states."""
    layers: int
    heads: int
    inner: int
    """Width of the feed-forward layers."""
    positions: int
    """Rows of the position table."""
    segments: int
    """Rows of the segment table."""
    dropout: float = 0.0
    """Dropout probability in training."""


@dataclass(frozen=True, kw_only=True)
class VlpSizes:
    """Sizes of a VLP model; the defaults are the published ones."""

    bert: BertSizes
    """Sizes of BERT."""
    region: int = 2048
    """Width of a region's feature vector."""
    hidden: int = 2048
    """Width of the hidden layer over a region."""
    geometry: int = 1607
    """Width of a region's geometry vector: box, score and class probabilities."""
    new_segment_ids: bool = True
    """If true, context and text have the segments 4 and 5, else 0 and 1."""
    special_ids: Mapping[str, int] = field(default_factory=dict)
    """Ids of special tokens that differ from BERT-base-cased; after construction, the
    ids of all special tokens.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "special_ids", {**SPECIAL_IDS, **self.special_ids})
