"""Layout of the checkpoints that VLP's authors published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch

from harness.errors import InputError
from harness_models.shared.weights.checkpoint_config import heads_of, must_agree
from harness_models.shared.weights.checkpoints import Checkpoint
from harness_models.shared.weights.strict_loading import layer_count
from harness_models.vlp.sizes import SPECIAL_IDS, BertSizes, VlpSizes

UNUSED = (
    r"^bert\.pooler\.",
    r"^ans_classifier\.",
    r"^cls\.seq_relationship\.",
    r"\.position_ids$",
)
"""Keys of published checkpoints that captioning does not use."""


def renamed_tensors(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors with LayerNorm's present names, and a segment table of two
    rows extended to six as in the authors' code.
    """
    result = {}
    for key, value in tensors.items():
        name = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", key)
        name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
        result[name] = value

    table = "bert.embeddings.token_type_embeddings.weight"
    if table in result and len(result[table]) == 2:
        result[table] = result[table][[0, 1, 0, 0, 0, 1]]
    return result


def resized_positions(
    tensors: dict[str, torch.Tensor], positions: int | None
) -> dict[str, torch.Tensor]:
    """Return the tensors with a position table of ``positions`` rows: cut, or repeated
    from its start, as in the authors' code.
    """
    table = "bert.embeddings.position_embeddings.weight"
    if table in tensors and positions is not None and len(tensors[table]) != positions:
        rows = (
            tensors[table]
            .repeat(-(-positions // len(tensors[table])), 1)[:positions]
            .clone()
        )
        return {**tensors, table: rows}
    return tensors


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> VlpSizes:
    """Return the sizes of a model from the shapes of its tensors.

    Parameters
    ----------
    checkpoint
        Tensors with the authors' keys.
    settings
        Values of the configuration.

    Raises
    ------
    InputError
        If the checkpoint is of another architecture, or a value of ``settings``
        contradicts a shape.
    """
    path = str(checkpoint.path)
    vocabulary, width = checkpoint.shape(
        "bert.embeddings.word_embeddings.weight", "VLP"
    )
    hidden, region = checkpoint.shape("vis_embed.0.weight", "VLP")
    positions = checkpoint.shape("bert.embeddings.position_embeddings.weight", "VLP")[0]
    table = checkpoint.shape("bert.embeddings.token_type_embeddings.weight", "VLP")
    segments = table[0]
    inner = checkpoint.shape("bert.encoder.layer.0.intermediate.dense.weight", "VLP")[0]
    layers = layer_count(checkpoint.tensors, r"bert\.encoder\.layer\.(\d+)\.")
    default_heads = width // 64 if width % 64 == 0 else None
    heads = heads_of(settings, "num_attention_heads", width, default_heads, path)

    shapes = {
        "vocab_size": vocabulary,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "intermediate_size": inner,
    }
    must_agree(settings, {**shapes, "max_position_embeddings": positions}, path)

    new_segment_ids = bool(settings.get("new_segment_ids", True))
    if segments < (6 if new_segment_ids else 2):
        raise InputError(
            f"the segment table has {segments} rows; expected 6, or 2, "
            "or at least 2 with new_segment_ids: false",
            path,
        )

    special = {**SPECIAL_IDS, **settings.get("special_ids", {})}
    beyond = {name: i for name, i in special.items() if i >= vocabulary}
    if beyond:
        raise InputError(
            f"special ids beyond the {vocabulary} words of the checkpoint: {beyond}; "
            "give special_ids",
            path,
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
        bert=bert,
        region=region,
        hidden=hidden,
        geometry=checkpoint.shape("vis_pe_embed.0.weight", "VLP")[1],
        new_segment_ids=new_segment_ids,
        special_ids=special,
    )
