"""VLP (Zhou et al. 2020, arXiv 1909.11059): one BERT that reads regions and words and answers at [MASK] slots.

Slots: [CLS], the regions, [SEP] (the context), then words. The context sees itself; a word sees the context and the words up to
itself; word t is predicted at a [MASK] in slot t, which sees the context, the words before t and itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from harness.adapters.shared.layers.dense import Linear
from harness.adapters.shared.layers.key_values import KeyValues
from harness.adapters.shared.weights.checkpoint_config import heads_of, must_agree, read_config
from harness.adapters.shared.weights.checkpoints import Checkpoint, layer_count, load_checkpoint, load_strictly
from harness.adapters.vlp.bert import Bert, BertSizes, Head
from harness.adapters.vlp.context import Context
from harness.errors import InputError

_UNUSED = (r"^bert\.pooler\.", r"^ans_classifier\.", r"^cls\.seq_relationship\.", r"\.position_ids$")
_ROOM = 24
"""Words that a row has places for at first; they grow when they are full."""
_SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
"""Ids in the vocabulary of BERT-base-cased."""


@dataclass(frozen=True, kw_only=True)
class VlpSizes:
    bert: BertSizes
    region: int = 2048
    hidden: int = 2048
    geometry: int = 1607
    new_segment_ids: bool = True
    """Segments 4 and 5 for context and text, else 0 and 1."""
    special_ids: Mapping[str, int] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "special_ids", {**_SPECIAL, **(self.special_ids or {})})


class Vlp(nn.Module):
    """State dict keys are the authors' (``bert.*``, ``cls.*``, ``vis_embed.*``, ``vis_pe_embed.*``)."""

    def __init__(self, sizes: VlpSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.bert.width
        self.bert, self.cls = Bert(sizes.bert), Head(sizes.bert)
        self.vis_embed = nn.Sequential(
            Linear(sizes.region, sizes.hidden), nn.ReLU(), Linear(sizes.hidden, width), nn.ReLU(),
            nn.Dropout(sizes.bert.dropout),
        )  # fmt: skip
        self.vis_pe_embed = nn.Sequential(Linear(sizes.geometry, width), nn.ReLU(), nn.Dropout(sizes.bert.dropout))
        self.segments = (4, 5) if sizes.new_segment_ids else (0, 1)

    @classmethod
    def from_checkpoint(cls, path: str | Path, config: Mapping[str, Any] | str | Path | None = None) -> Vlp:
        """The model in a ``.bin``, ``.pt`` or ``.safetensors`` file (or a converted folder), in evaluation mode.

        ``config`` is needed only for what shapes do not tell: ``num_attention_heads`` (default: 64 wide heads), ``special_ids``
        (default: BERT-base-cased), ``new_segment_ids`` (true). Raises :class:`InputError` listing keys that do not fit.
        """
        loaded = load_checkpoint(path)
        settings = {**loaded.settings, **read_config(config)}
        settings = {**settings, **settings.get("bert_config", {})}
        tensors = _fitted(_renamed(loaded.tensors), settings.get("max_position_embeddings"))
        checkpoint = Checkpoint(tensors, loaded.settings, loaded.path)
        sizes = sizes_of(checkpoint, settings)
        model = cls(sizes)
        words, head = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
        if head not in tensors:
            tensors[head] = tensors[words]
        if torch.equal(tensors[head], tensors[words]):
            model.cls.predictions.decoder.weight = model.bert.embeddings.word_embeddings.weight
        load_strictly(model, Checkpoint(tensors, {}, checkpoint.path), "VLP", ignored=_UNUSED)
        return model

    # ------------------------------------------------------------------ context and slots
    def context(self, regions: torch.Tensor, geometry: torch.Tensor) -> Context:
        """Keys and values of the context slots, given regions (B, n, 2048) and their geometry (B, n, 1607)."""
        return self.bert.context(self.embed_context(regions, geometry))

    def embed_context(self, regions: torch.Tensor, geometry: torch.Tensor) -> torch.Tensor:
        """(B, n + 2, width) of [CLS], the regions and [SEP], before the first layer."""
        table, ids = self.bert.embeddings, self.sizes.special_ids
        dtype = table.LayerNorm.weight.dtype
        words, places = table.word_embeddings.weight, table.position_embeddings.weight
        rows, count = regions.shape[:2]
        ends = words[[ids["[CLS]"], ids["[SEP]"]]].expand(rows, 2, -1)
        end_places = places[[0, count + 1]].expand(rows, 2, -1)
        x = torch.cat([ends[:, :1], self.vis_embed(regions.to(dtype)), ends[:, 1:]], dim=1)
        where = torch.cat([end_places[:, :1], self.vis_pe_embed(geometry.to(dtype)), end_places[:, 1:]], dim=1)
        return self.bert.embed(x, where, self.segments[0])

    def embed_text(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Embeddings (R, T, width) of text slots: tokens (R, T) at positions (T,)."""
        table = self.bert.embeddings
        return self.bert.embed(table.word_embeddings(tokens), table.position_embeddings(places)[None], self.segments[1])

    def score_slots(self, tokens: torch.Tensor, context: Context) -> torch.Tensor:
        """Logits (R, T, V), entry t predicting token t of ``tokens`` (R, T), in one pass: T - 1 words and T masks side by side
        (nothing looks at the last word)."""
        length, device = tokens.shape[1], tokens.device
        places = torch.arange(len(context), len(context) + length, device=device)
        masks = torch.full_like(tokens, self.sizes.special_ids["[MASK]"])
        x = self.embed_text(torch.cat([tokens[:, :-1], masks], dim=1), torch.cat([places[:-1], places]))
        before = torch.ones(length, length - 1, dtype=torch.bool, device=device).tril(-1)
        own = torch.eye(length, dtype=torch.bool, device=device)
        words = torch.cat([before[1:], torch.zeros_like(own[1:])], dim=1)
        mask = torch.cat([words, torch.cat([before, own], dim=1)])
        return self.cls(self.bert(x, context, None, mask, first=length - 1))

    # ------------------------------------------------------------------ training: words hidden in their own slots
    def left_to_right(
        self, tokens: torch.Tensor, inside: torch.Tensor, regions: torch.Tensor, geometry: torch.Tensor
    ) -> torch.Tensor:
        """Hidden states (B, T, width): each word sees the context and the words up to itself (padding stands behind them)."""
        context, length = self.context(regions, geometry), tokens.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        places = torch.arange(len(context), len(context) + length, device=tokens.device)
        return self.bert(self.embed_text(tokens, places), context, None, mask)

    def bidirectional(
        self, tokens: torch.Tensor, inside: torch.Tensor, regions: torch.Tensor, geometry: torch.Tensor
    ) -> torch.Tensor:
        """Hidden states (B, T, width): context and words see each other; ``inside`` (B, T) is False at padding."""
        context = self.embed_context(regions, geometry)
        seen, length = context.shape[1], tokens.shape[1]
        text = self.embed_text(tokens, torch.arange(seen, seen + length, device=tokens.device))
        mask = F.pad(inside, (seen, 0), value=True)[:, None, None]
        return self.bert.within(torch.cat([context, text], dim=1), mask)[:, seen:]

    def forward(self, tokens: torch.Tensor, regions: torch.Tensor, geometry: torch.Tensor) -> torch.Tensor:
        """Logits (B, T, V) at the [MASK] slot of each of ``tokens`` (B, T), the tokens before it being given."""
        return self.score_slots(tokens, self.context(regions, geometry))


@dataclass(frozen=True)
class VlpState:
    """Context of the images and what the rows have written."""

    context: Context
    own: KeyValues

    def take(self, index: torch.Tensor) -> VlpState:
        return VlpState(self.context.take(index), self.own.take(index))


class VlpStep:
    """One word at a time: the last word takes its slot for good, a [MASK] asks for the next. The first state is a
    :class:`~harness.adapters.vlp.context.Context`."""

    def __init__(self, model: Vlp) -> None:
        self.model = model

    def __call__(self, tokens: torch.Tensor | None, state: Context | VlpState) -> tuple[torch.Tensor, VlpState]:
        model = self.model
        if isinstance(state, Context):
            state = VlpState(state, KeyValues.empty(model.sizes.bert.layers, _ROOM))
        context, own = state.context, state.own
        device = context.owner.device
        ask = torch.full((len(context.owner), 1), model.sizes.special_ids["[MASK]"], dtype=torch.long, device=device)
        slots = ask if tokens is None else torch.cat([tokens[:, None], ask], dim=1)
        width, seen = slots.shape[1], own.length
        mask = None
        if width > 1:
            mask = torch.ones(width, seen + width, dtype=torch.bool, device=device).tril(seen)
        start = len(context) + seen
        x = model.embed_text(slots, torch.arange(start, start + width, device=device))
        hidden = model.bert(x, context, own, mask, first=width - 1)
        own.length += width - 1  # the [MASK] gives its place back
        return model.cls(hidden[:, -1]), state


def _renamed(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """LayerNorm's older names, and a segment table of two rows as the authors grow it to six."""
    out = {
        re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", k)): v
        for k, v in tensors.items()
    }
    table = "bert.embeddings.token_type_embeddings.weight"
    if table in out and len(out[table]) == 2:
        out[table] = out[table][[0, 1, 0, 0, 0, 1]]
    return out


def _fitted(tensors: dict[str, torch.Tensor], positions: int | None) -> dict[str, torch.Tensor]:
    """A position table cut, or told again from its start, to the length that the configuration names (as the authors do)."""
    table = "bert.embeddings.position_embeddings.weight"
    if table in tensors and positions is not None and len(tensors[table]) != positions:
        tensors[table] = tensors[table].repeat(-(-positions // len(tensors[table])), 1)[:positions].clone()
    return tensors


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> VlpSizes:
    """All sizes from the shapes; raises :class:`InputError` where the checkpoint is another architecture."""
    where = str(checkpoint.path)
    vocabulary, width = checkpoint.shape("bert.embeddings.word_embeddings.weight", "VLP")
    hidden, region = checkpoint.shape("vis_embed.0.weight", "VLP")
    positions = checkpoint.shape("bert.embeddings.position_embeddings.weight", "VLP")[0]
    segments = checkpoint.shape("bert.embeddings.token_type_embeddings.weight", "VLP")[0]
    inner = checkpoint.shape("bert.encoder.layer.0.intermediate.dense.weight", "VLP")[0]
    layers = layer_count(checkpoint.tensors, r"bert\.encoder\.layer\.(\d+)\.")
    heads = heads_of(settings, "num_attention_heads", width, width // 64 if width % 64 == 0 else None, where)
    told = {"vocab_size": vocabulary, "hidden_size": width, "num_hidden_layers": layers, "intermediate_size": inner}
    must_agree(settings, {**told, "max_position_embeddings": positions}, where)
    if segments < (6 if settings.get("new_segment_ids", True) else 2):
        raise InputError(
            f"the segment table has {segments} rows; 6 are wanted, or 2, or new_segment_ids: false with at least 2",
            where,
        )
    special = {**_SPECIAL, **settings.get("special_ids", {})}
    beyond = {name: i for name, i in special.items() if i >= vocabulary}
    if beyond:
        raise InputError(
            f"special ids beyond the {vocabulary} words of the checkpoint: {beyond}; give special_ids", where
        )
    bert = BertSizes(
        vocabulary=vocabulary,
        width=width,
        layers=layers,
        heads=heads,
        inner=inner,
        positions=positions,
        segments=segments,
    )
    return VlpSizes(
        bert=bert, region=region, hidden=hidden, geometry=checkpoint.shape("vis_pe_embed.0.weight", "VLP")[1],
        new_segment_ids=bool(settings.get("new_segment_ids", True)), special_ids=special,
    )  # fmt: skip
