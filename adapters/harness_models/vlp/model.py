"""VLP: one BERT that reads regions and words, and predicts words at [MASK] slots.

Zhou et al., "Unified Vision-Language Pre-Training for Image Captioning and VQA" (2020),
arXiv 1909.11059.

The slots are [CLS], the regions and [SEP] (the context), then the words. Context slots
attend to the context. A word attends to the context and to the words up to itself. Word
t is predicted at a [MASK] in slot t, which attends to the context, the words before t
and itself.

Shapes: ``B`` images, ``n`` regions, ``C = n + 2`` context slots, ``R`` rows of text,
``T`` words, ``V`` vocabulary entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from harness_models.shared.key_values import KeyValues
from harness_models.shared.layers import Linear
from harness_models.shared.weights.checkpoint_config import read_config
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly
from harness_models.vlp.bert import Bert, Head
from harness_models.vlp.checkpoint_layout import (
    UNUSED,
    renamed_tensors,
    resized_positions,
    sizes_of,
)
from harness_models.vlp.context import Context
from harness_models.vlp.sizes import VlpSizes

__all__ = ["Vlp", "VlpSizes", "VlpState", "VlpStep"]
_ROOM = 24
"""Number of words for which a new cache has space. The cache grows when it is full."""


class Vlp(nn.Module):
    """VLP network.

    The state dict has the authors' keys (``bert.*``, ``cls.*``,
    ``vis_embed.*``, ``vis_pe_embed.*``).

    Parameters
    ----------
    sizes
        Sizes of BERT and of the region layers.
    """

    def __init__(self, sizes: VlpSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.bert.width
        self.bert = Bert(sizes.bert)
        self.cls = Head(sizes.bert)

        self.vis_embed = nn.Sequential(
            Linear(sizes.region, sizes.hidden),
            nn.ReLU(),
            Linear(sizes.hidden, width),
            nn.ReLU(),
            nn.Dropout(sizes.bert.dropout),
        )
        self.vis_pe_embed = nn.Sequential(
            Linear(sizes.geometry, width), nn.ReLU(), nn.Dropout(sizes.bert.dropout)
        )

        self.segments = (4, 5) if sizes.new_segment_ids else (0, 1)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path, config: Mapping[str, Any] | str | Path | None = None
    ) -> Vlp:
        """Return the model of a checkpoint, in evaluation mode.

        Parameters
        ----------
        path
            ``.bin``, ``.pt`` or ``.safetensors`` file, or a converted folder.
        config
            Mapping or JSON file with the values that tensor shapes do not determine:
            ``num_attention_heads`` (default: heads of width 64), ``special_ids``
            (default: BERT-base-cased), ``new_segment_ids`` (true). Sizes in it must
            agree with the shapes.

        Raises
        ------
        InputError
            If the tensors are not those of VLP. The message lists the keys that do not
            fit.
        """
        loaded = load_checkpoint(path)
        settings = {**loaded.settings, **read_config(config)}
        settings = {**settings, **settings.get("bert_config", {})}

        tensors = resized_positions(
            renamed_tensors(loaded.tensors), settings.get("max_position_embeddings")
        )
        checkpoint = Checkpoint(tensors, loaded.settings, loaded.path)
        sizes = sizes_of(checkpoint, settings)

        model = cls(sizes)

        words = "bert.embeddings.word_embeddings.weight"
        head = "cls.predictions.decoder.weight"
        if head not in tensors:
            tensors[head] = tensors[words]
        if torch.equal(tensors[head], tensors[words]):
            model.cls.predictions.decoder.weight = (
                model.bert.embeddings.word_embeddings.weight
            )
        load_strictly(
            model, Checkpoint(tensors, {}, checkpoint.path), "VLP", ignored=UNUSED
        )
        return model

    def context(self, regions: torch.Tensor, geometry: torch.Tensor) -> Context:
        """Return keys and values of the context, for regions (B, n, region) and their
        geometry vectors (B, n, geometry).
        """
        return self.bert.context(self.embed_context(regions, geometry))

    def embed_context(
        self, regions: torch.Tensor, geometry: torch.Tensor
    ) -> torch.Tensor:
        """Return the embeddings (B, n + 2, width) of [CLS], the regions and [SEP].

        Parameters
        ----------
        regions
            Region features (B, n, region).
        geometry
            Geometry vectors (B, n, geometry), which take the place of position
            embeddings.
        """
        table = self.bert.embeddings
        ids = self.sizes.special_ids
        dtype = table.LayerNorm.weight.dtype
        words = table.word_embeddings.weight
        positions = table.position_embeddings.weight

        # The regions stand between [CLS] and [SEP], which keep BERT's vectors.
        rows, count = regions.shape[:2]
        ends = words[[ids["[CLS]"], ids["[SEP]"]]].expand(rows, 2, -1)
        end_positions = positions[[0, count + 1]].expand(rows, 2, -1)

        inner = self.vis_embed(regions.to(dtype))
        x = torch.cat([ends[:, :1], inner, ends[:, 1:]], dim=1)
        places = self.vis_pe_embed(geometry.to(dtype))
        position_vectors = torch.cat(
            [end_positions[:, :1], places, end_positions[:, 1:]], dim=1
        )
        return self.bert.embed(x, position_vectors, self.segments[0])

    def embed_text(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return the embeddings (R, T, width) of text slots with tokens (R, T) at
        positions (T,).
        """
        table = self.bert.embeddings
        position_vectors = table.position_embeddings(positions)[None]
        return self.bert.embed(
            table.word_embeddings(tokens), position_vectors, self.segments[1]
        )

    def score_slots(self, tokens: torch.Tensor, context: Context) -> torch.Tensor:
        """Return logits (R, T, V) that predict tokens (R, T), computed in one pass.

        The text holds the first T - 1 words and beside them T masks, each at the
        position of the word that it predicts. No slot attends to the last word, so it
        is left out.
        """
        # While a caption is written, word t is predicted at a [MASK] behind word t - 1.
        # All these masks fit beside the words in one pass, since no slot but the mask
        # itself attends to it: a reference of T words costs one pass of 2 T - 1 slots
        # in place of T passes.
        length = tokens.shape[1]
        device = tokens.device
        positions = torch.arange(len(context), len(context) + length, device=device)
        masks = torch.full_like(tokens, self.sizes.special_ids["[MASK]"])
        x = self.embed_text(
            torch.cat([tokens[:, :-1], masks], dim=1),
            torch.cat([positions[:-1], positions]),
        )
        # Rows are the attending slots: T - 1 words, then T masks; columns the attended
        # ones. A word sees the words up to itself, a mask the words before it and
        # itself; no word sees a mask.
        before = torch.ones(length, length - 1, dtype=torch.bool, device=device)
        before = before.tril(-1)
        itself = torch.eye(length, dtype=torch.bool, device=device)
        words = torch.cat([before[1:], torch.zeros_like(itself[1:])], dim=1)
        mask = torch.cat([words, torch.cat([before, itself], dim=1)])
        return self.cls(self.bert(x, context, None, mask, first=length - 1))

    def left_to_right(
        self,
        tokens: torch.Tensor,
        is_word: torch.Tensor,
        regions: torch.Tensor,
        geometry: torch.Tensor,
    ) -> torch.Tensor:
        """Return hidden states (B, T, width) in which each word attends to the context
        and the words up to itself.

        ``tokens`` (B, T) are padded at their ends, so ``is_word`` (B, T), False at
        padding, is not used.
        """
        context = self.context(regions, geometry)
        length = tokens.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        positions = torch.arange(
            len(context), len(context) + length, device=tokens.device
        )
        return self.bert(self.embed_text(tokens, positions), context, None, mask)

    def bidirectional(
        self,
        tokens: torch.Tensor,
        is_word: torch.Tensor,
        regions: torch.Tensor,
        geometry: torch.Tensor,
    ) -> torch.Tensor:
        """Return hidden states (B, T, width) in which context and words attend to each
        other; ``is_word`` (B, T) is False at padding.
        """
        context = self.embed_context(regions, geometry)
        before = context.shape[1]
        length = tokens.shape[1]
        text = self.embed_text(
            tokens, torch.arange(before, before + length, device=tokens.device)
        )
        mask = F.pad(is_word, (before, 0), value=True)[:, None, None]
        return self.bert.within(torch.cat([context, text], dim=1), mask)[:, before:]

    def forward(
        self, tokens: torch.Tensor, regions: torch.Tensor, geometry: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (B, T, V); entry t predicts token t of ``tokens`` (B,
        T) from the tokens before it.

        ``regions`` (B, n, region) and ``geometry`` (B, n, geometry) are the context.
        """
        return self.score_slots(tokens, self.context(regions, geometry))


@dataclass(frozen=True)
class VlpState:
    """Decoder state of R rows: the context of their images,
    and keys and values of the words written so far.
    """

    context: Context
    """Context of the images, with R rows."""
    text: KeyValues
    """Keys and values of the words, (R, length, heads, d) in each layer."""

    def take(self, index: torch.Tensor) -> VlpState:
        """Return the state of the rows ``index`` (R',)."""
        return VlpState(self.context.take(index), self.text.take(index))


class VlpStep:
    """Decoder step of VLP: the last word takes its slot,
    and a [MASK] after it predicts the next word.

    The first state is a :class:`~harness_models.vlp.context.Context`.
    """

    def __init__(self, model: Vlp) -> None:
        self.model = model

    def __call__(
        self, tokens: torch.Tensor | None, state: Context | VlpState
    ) -> tuple[torch.Tensor, VlpState]:
        """Return the logits (R, V) of the next token and the new state, for the last
        tokens (R,) or None at the first step.
        """
        model = self.model
        if isinstance(state, Context):
            state = VlpState(state, KeyValues.empty(model.sizes.bert.layers, _ROOM))
        context = state.context
        text = state.text
        device = context.owner.device
        masks = torch.full(
            (len(context.owner), 1),
            model.sizes.special_ids["[MASK]"],
            dtype=torch.long,
            device=device,
        )
        slots = masks if tokens is None else torch.cat([tokens[:, None], masks], dim=1)
        width = slots.shape[1]
        before = text.length
        mask = None
        if width > 1:
            mask = torch.ones(width, before + width, dtype=torch.bool, device=device)
            mask = mask.tril(before)
        start = len(context) + before
        x = model.embed_text(slots, torch.arange(start, start + width, device=device))
        hidden = model.bert(x, context, text, mask, first=width - 1)
        # The last word stays in the cache; the [MASK] behind it is overwritten by the
        # next word, which takes its slot.
        text.length += width - 1
        return model.cls(hidden[:, -1]), state
