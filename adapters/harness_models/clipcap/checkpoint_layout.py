"""Layout of the checkpoints that CLIPCap's authors published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from harness.errors import InputError
from harness_models.clipcap.mappers import MAPPER_HEADS, ClipCapSizes
from harness_models.shared.gpt2 import Gpt2Sizes
from harness_models.shared.weights.checkpoint_config import heads_of, must_agree
from harness_models.shared.weights.checkpoints import Checkpoint
from harness_models.shared.weights.strict_loading import layer_count

OLD_BUFFERS = (r"^gpt\.transformer\.h\.\d+\.attn\.(bias|masked_bias)$",)
"""Buffers of old transformers versions in GPT-2's state dict; they hold no weights."""


def tied_tensors(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors with both names of GPT-2's tied word embedding,
    of which some writers store only one.
    """
    result = dict(tensors)
    words = "gpt.transformer.wte.weight"
    head = "gpt.lm_head.weight"
    for name, twin in ((words, head), (head, words)):
        if name in result:
            result.setdefault(twin, result[name])
    return result


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> ClipCapSizes:
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
    keys = checkpoint.tensors
    vocabulary, width = checkpoint.shape("gpt.transformer.wte.weight", "CLIPCap")
    positions = checkpoint.shape("gpt.transformer.wpe.weight", "CLIPCap")[0]
    layers = layer_count(keys, r"gpt\.transformer\.h\.(\d+)\.")
    inner = checkpoint.shape("gpt.transformer.h.0.mlp.c_fc.weight", "CLIPCap")[1]
    default_heads = width // 64 if width % 64 == 0 else None
    heads = heads_of(settings, "n_head", width, default_heads, path)

    activation = settings.get("activation_function", "gelu_new")
    if activation not in ("gelu_new", "gelu_pytorch_tanh"):
        raise InputError(
            f"GPT-2's activation is gelu_new; the configuration says {activation!r}",
            path,
        )

    eps = float(settings.get("layer_norm_epsilon", 1e-5))
    gpt2 = Gpt2Sizes(
        vocabulary=vocabulary,
        positions=positions,
        width=width,
        layers=layers,
        heads=heads,
        inner=inner,
        eps=eps,
    )

    sizes = _mapper_sizes(checkpoint, settings, gpt2)

    # What a configuration says must agree with the tensors.
    shapes = {
        "prefix_length": sizes.prefix_length,
        "prefix_size": sizes.clip,
        "vocab_size": vocabulary,
    }
    shapes |= {"n_embd": width, "n_layer": layers, "n_positions": positions}
    if sizes.mapper == "transformer":
        shapes |= {"clip_length": sizes.clip_length, "num_mapper_layers": sizes.layers}
    must_agree(settings, shapes, path)
    return sizes


def _mapper_sizes(
    checkpoint: Checkpoint, settings: Mapping[str, Any], gpt2: Gpt2Sizes
) -> ClipCapSizes:
    if "clip_project.prefix_const" in checkpoint.tensors:
        return _transformer_sizes(checkpoint, settings, gpt2)

    # A mapper of one layer is a linear map.
    single = "clip_project.weight" in checkpoint.tensors
    if single:
        first = last = "clip_project.weight"
    else:
        first = "clip_project.model.0.weight"
        last = "clip_project.model.2.weight"

    hidden, clip = checkpoint.shape(first, "CLIPCap")
    outputs = checkpoint.shape(last, "CLIPCap")[0]
    if outputs % gpt2.width:
        raise InputError(
            f"the mapper has {outputs} outputs; expected a multiple of GPT-2's width "
            f"{gpt2.width}",
            str(checkpoint.path),
        )

    return ClipCapSizes(
        mapper="linear" if single else "mlp",
        clip=clip,
        gpt2=gpt2,
        hidden=hidden,
        prefix_length=outputs // gpt2.width,
        normalise=bool(settings.get("normalise")),
    )


def _transformer_sizes(
    checkpoint: Checkpoint, settings: Mapping[str, Any], gpt2: Gpt2Sizes
) -> ClipCapSizes:
    rows, clip = checkpoint.shape("clip_project.linear.weight", "CLIPCap")
    heads = heads_of(
        settings, "mapper_heads", gpt2.width, MAPPER_HEADS, str(checkpoint.path)
    )
    if rows % gpt2.width:
        raise InputError(
            f"the mapper's first layer has {rows} outputs; "
            f"expected a multiple of GPT-2's width {gpt2.width}",
            str(checkpoint.path),
        )

    normalise = settings.get("normalise")
    return ClipCapSizes(
        mapper="transformer",
        clip=clip,
        gpt2=gpt2,
        clip_length=rows // gpt2.width,
        heads=heads,
        prefix_length=checkpoint.shape("clip_project.prefix_const", "CLIPCap")[0],
        layers=layer_count(
            checkpoint.tensors, r"clip_project\.transformer\.layers\.(\d+)\."
        ),
        hidden=checkpoint.shape(
            "clip_project.transformer.layers.0.mlp.fc1.weight", "CLIPCap"
        )[0],
        normalise=True if normalise is None else bool(normalise),
    )
