"""CLIP models by open_clip: from a file of weights, an archive of OpenAI, a folder with
``open_clip_config.json``, or a published tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.encoders.precision import Precision, weight_dtype
from harness.errors import InputError, did_you_mean, require
from harness.files.announcements import announce
from harness.files.torchscript import (
    CLIP_SETTINGS,
    is_torchscript,
    read_openai_clip,
)
from harness.registry.torchvision_guard import guard_torchvision

CONFIG = "open_clip_config.json"
FOLDER_WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
LONG_CLIP_KEPT = 20
"""Positions of Long-CLIP that keep the embeddings of CLIP (Zhang et al. 2024, section
3.1); the later ones are of a table of its own.
"""


def load_open_clip() -> Any:
    """Return the module open_clip; raise
    :class:`~harness.errors.MissingExtra` without it.
    """
    guard_torchvision()
    return require("open_clip", extra="clip", needed_by="a CLIP model")


class OpenClipTowers:
    """A model of open_clip.

    Parameters
    ----------
    weights : Path
        File of weights, or a folder of open_clip.
    model : str
        Name of the architecture; of a folder it is the name in messages alone.
    device : str
        Name of a torch device.
    precision : str
        Number format of the forward pass.

    Raises
    ------
    InputError
        For an architecture that does not exist, and weights that are missing, damaged
        or of another architecture.
    """

    def __init__(
        self, weights: Path, model: str, device: str, precision: Precision
    ) -> None:
        self.name = f"CLIP {model}"
        self.weights = weights
        self.model = model
        self.device = device
        self.precision: Precision = precision
        open_clip = load_open_clip()
        with announce(f"loading {self.name}"):
            network = self._load(open_clip)
        self.network = network.eval().to(device=device, dtype=weight_dtype(precision))
        self.context = int(network.context_length)
        self.transform = _image_transform(open_clip, network)
        self.is_plain = _is_plain(open_clip, network, self.tokenizer)

    def _load(self, open_clip: Any) -> Any:
        """Return the network with its weights, and set the tokenizer."""
        if self.weights.is_dir():
            name = f"local-dir:{self.weights}"
            self.tokenizer = open_clip.get_tokenizer(name)
            return open_clip.create_model(name, pretrained=None, device="cpu")

        architectures = open_clip.list_models()
        check_architecture(self.model, architectures)
        self.tokenizer = open_clip.get_tokenizer(self.model)
        network = open_clip.create_model(self.model, pretrained=None, device="cpu")
        state = self._load_state(open_clip, architectures)
        state = stretch_positions(network, self.tokenizer, state)
        try:
            network.load_state_dict(state)
        except RuntimeError as error:
            # the first line says no more than that there are errors
            reason = str(error)
            if "\n" in reason:
                reason = reason.splitlines()[1].strip()
            raise InputError(
                f"not the weights of {self.model}: {reason[:200]}", str(self.weights)
            ) from error
        return network

    def _load_state(
        self, open_clip: Any, architectures: Sequence[str]
    ) -> dict[str, Any]:
        """Return the tensors of the weights by name."""
        if not is_torchscript(self.weights):
            return load_state(self.weights)

        import torch

        quick_gelu = bool(open_clip.get_model_config(self.model).get("quick_gelu"))
        arrays = read_openai_clip(self.weights, self.model, quick_gelu, architectures)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts, whole; those of a tokenizer that is not CLIP's
        own are cut at the context.
        """
        tokenizer = self.tokenizer
        if not self.is_plain:
            return [row.tolist() for row in tokenizer(list(texts))]
        first, last = tokenizer.sot_token_id, tokenizer.eot_token_id
        return [[first, *tokenizer.encode(text), last] for text in texts]

    def encode_ids(self, rows: Sequence[Sequence[int]]) -> Any:
        """Return the vectors of texts by their tokens, a tensor (B, d)."""
        import torch

        length = max(len(row) for row in rows)
        ids = torch.zeros((len(rows), length), dtype=torch.long)
        for row, tokens in zip(ids, rows):
            row[: len(tokens)] = torch.tensor(tokens)
        ids = ids.to(self.device)
        if self.is_plain:
            return _encode_short(self.network, ids)
        return self.network.encode_text(ids)

    def pixels(self, image: Any) -> np.ndarray:
        """Return resized pixels, uint8 (H, W, 3); the model's device scales them."""
        for step in self.transform.transforms[:-2]:
            image = step(image)
        return np.asarray(image)

    def encode_pixels(self, pixels: np.ndarray) -> Any:
        """Return the vectors of images by their pixels, a tensor (B, d)."""
        import torch

        normalize = self.transform.transforms[-1]
        images = torch.from_numpy(pixels).to(self.device)
        images = images.permute(0, 3, 1, 2).contiguous().float().div(255)
        images = normalize(images).to(weight_dtype(self.precision))
        return self.network.encode_image(images)


def check_architecture(model: str, architectures: Sequence[str]) -> None:
    """Raise :class:`InputError` for a name that open_clip does not know."""
    if model not in architectures:
        raise InputError(
            f"open_clip has no model '{model}'{did_you_mean(model, architectures)}",
            parameter="model",
        )


def _image_transform(open_clip: Any, network: Any) -> Any:
    """Return the transform of images: resizing, then a tensor, then its scale."""
    transform = open_clip.transform
    config = open_clip.get_model_preprocess_cfg(network)
    return transform.image_transform_v2(
        transform.PreprocessCfg(**config), is_train=False
    )


def _is_plain(open_clip: Any, network: Any, tokenizer: Any) -> bool:
    """Return True for a model as CLIP was published: a causal text tower that reads the
    vector at the end token. What follows that token changes nothing.
    """
    return (
        type(network) is open_clip.model.CLIP
        and type(tokenizer) is open_clip.SimpleTokenizer
        and tokenizer.reduction_fn is None
        and network.attn_mask is not None
        and network.text_pool_type == "argmax"
    )


def _encode_short(network: Any, ids: Any) -> Any:
    """Return the vectors (B, d) of token ids (B, L), as ``encode_text`` of all 77
    positions does: no position reads a later one, so that those behind the longest
    text are left out.
    """
    import torch

    length = ids.shape[1]
    dtype = network.transformer.get_cast_dtype()
    states = network.token_embedding(ids).to(dtype)
    states = states + network.positional_embedding[:length].to(dtype)
    mask = network.attn_mask[:length, :length]
    states = network.ln_final(network.transformer(states, attn_mask=mask))

    # the end token has the largest number
    rows = torch.arange(len(ids), device=ids.device)
    ends = states[rows, ids.argmax(dim=-1)]
    projection = network.text_projection
    return projection(ends) if callable(projection) else ends @ projection


def stretch_positions(
    network: Any, tokenizer: Any, state: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the tensors of a state for a network whose text tower reads as many
    positions as the state has: the network is stretched.

    Long-CLIP has two tables, ``positional_embedding`` for the first 20 positions and
    ``positional_embedding_res`` for the others.
    """
    import torch

    state = dict(state)
    table = state.get("positional_embedding")
    rest = state.pop("positional_embedding_res", None)
    if table is None or table.ndim != 2:
        return state
    if rest is not None:
        table = torch.cat([table[:LONG_CLIP_KEPT], rest[LONG_CLIP_KEPT:]])
        state["positional_embedding"] = table

    own = getattr(network, "positional_embedding", None)
    length = len(table)
    if own is None or length == len(own) or network.attn_mask is None:
        return state
    network.positional_embedding = torch.nn.Parameter(torch.empty(length, own.shape[1]))
    network.attn_mask = torch.full((length, length), float("-inf")).triu_(1)
    network.context_length = length
    tokenizer.context_length = length
    return state


def load_state(path: Path) -> dict[str, Any]:
    """Return the tensors of a weights file by name, without the prefix ``module.``;
    nothing else is unpickled.

    Raises :class:`InputError` if the file holds anything but tensors.
    """
    if path.suffix == ".safetensors":
        safetensors = require(
            "safetensors.torch", extra="clip", needed_by="a CLIP model"
        )
        return safetensors.load_file(str(path))

    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"not a file of tensors alone: {reason}", where=str(path)
        ) from error

    state = state.get("state_dict", state)
    weights = {key.removeprefix("module."): value for key, value in state.items()}
    return {key: value for key, value in weights.items() if key not in CLIP_SETTINGS}
