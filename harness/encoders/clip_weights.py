"""Weights of CLIP models by the names that people use: files, folders, models of the
hub, published tags of open_clip, and OpenAI's archives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.encoders.model_folders import model_folder
from harness.encoders.open_clip_towers import (
    CONFIG,
    OpenClipTowers,
    check_architecture,
    load_open_clip,
)
from harness.encoders.precision import Precision
from harness.encoders.towers import TwoTowers
from harness.encoders.transformers_towers import TransformersTowers
from harness.errors import HarnessError, InputError
from harness.files.torchscript import is_torchscript, read_torchscript
from harness.files.user_path import user_path

FILES = frozenset({".pt", ".pth", ".bin", ".ckpt", ".safetensors"})
"""Endings of files of weights, which names of the hub do not have."""
QUICK = "-quickgelu"
"""End of the names of open_clip's architectures with the activation of OpenAI."""


@dataclass(frozen=True)
class ClipWeights:
    """Weights that are there, and the architecture that reads them."""

    path: Path
    """A file of open_clip, or a folder of open_clip or transformers."""
    model: str
    """Architecture of open_clip, or the name of the folder."""

    def load(self, device: str, precision: Precision) -> TwoTowers:
        """Return the model on a device. Raises :class:`InputError` for weights of
        another kind.
        """
        if self.path.is_dir() and not (self.path / CONFIG).is_file():
            return TransformersTowers(self.path, device, precision)
        return OpenClipTowers(self.path, self.model, device, precision)


def find_clip_weights(weights: str, model: str | None, *, subject: str) -> ClipWeights:
    """Return the weights of a CLIP model.

    Parameters
    ----------
    weights : str
        A file of open_clip weights or an archive of OpenAI; a folder of open_clip, of
        transformers, or of sentence-transformers around one; a name on the hub, which
        is taken from its cache or fetched; a published tag of open_clip, with
        ``model``.
    model : str, optional
        Architecture of open_clip. Only plain weights need it: archives of OpenAI tell
        theirs by the shapes of their tensors, folders by their configuration.
    subject : str
        Beginning of messages.

    Raises
    ------
    InputError
        For weights that are not there, plain weights without ``model``, and a model
        that contradicts them.
    """
    path = user_path(weights)
    if path.is_dir():
        return _of_folder(path, path.name)
    if path.is_file():
        return ClipWeights(path, model or _architecture_of(path, subject))
    if "/" not in weights and model is not None:
        tagged = _of_tag(weights, model, subject)
        if tagged is not None:
            return tagged
    if "/" not in weights or path.suffix in FILES or path.is_absolute():
        raise InputError(f"{subject}: no such file or folder of CLIP weights", weights)
    try:
        found = model_folder(weights)
    except InputError as error:
        raise InputError(
            f"{subject} has no weights of {weights}: {error.message}; or name a file "
            "that is here: weights=ViT-B-32.pt",
            parameter="weights",
        ) from error
    return _of_folder(found.path, weights)


def _of_folder(folder: Path, name: str) -> ClipWeights:
    """Return the weights of a folder; sentence-transformers keep them in one within."""
    inner = folder / "0_CLIPModel"
    folder = inner if (inner / "config.json").is_file() else folder
    if not any((folder / file).is_file() for file in (CONFIG, "config.json")):
        raise InputError(
            f"no CLIP model: the folder has neither {CONFIG} nor config.json",
            str(folder),
        )
    return ClipWeights(folder, name)


def _of_tag(tag: str, model: str, subject: str) -> ClipWeights | None:
    """Return the weights of a published tag; None for a text that is none.

    Raises :class:`InputError` for weights of another activation than that of the
    architecture.
    """
    open_clip = load_open_clip()
    check_architecture(model, open_clip.list_models())
    plain = model.removesuffix(QUICK)
    config: dict[str, Any] = open_clip.get_pretrained_cfg(plain, tag)
    config = config or open_clip.get_pretrained_cfg(model, tag)
    if not config:
        return None

    is_quick = bool(open_clip.get_model_config(model).get("quick_gelu"))
    if "quick_gelu" in config and bool(config["quick_gelu"]) != is_quick:
        other = plain if is_quick else f"{plain}{QUICK}"
        raise InputError(
            f"{subject}: the weights '{tag}' have another activation than {model}; "
            f"model: {other}",
            parameter="model",
        )
    repository = str(config.get("hf_hub") or "").rstrip("/")
    if not repository:
        raise HarnessError(
            f"{subject}: the weights '{tag}' are not on the hub; fetch "
            f"{config.get('url')} and give the file"
        )
    return ClipWeights(model_folder(repository).path, model)


def _architecture_of(path: Path, subject: str) -> str:
    """Return the architecture of an archive of OpenAI.

    Raises :class:`InputError` for plain weights, which do not tell their activation.
    """
    open_clip = load_open_clip()
    architectures: Sequence[str] = open_clip.list_models()
    if not is_torchscript(path):
        raise InputError(
            f"{subject}: weights alone do not tell their activation; add the name of "
            "the architecture, for example model=ViT-B-32 for weights that open_clip "
            f"trained, model=ViT-B-32{QUICK} for those of OpenAI",
            str(path),
            parameter="model",
        )

    archive = read_torchscript(path)
    shapes = {name: array.shape for name, array in archive.tensors.items()}
    wants_quick = "QuickGELU" in archive.classes
    for name in architectures:
        if name.endswith(QUICK) == wants_quick and _fits(
            open_clip.get_model_config(name), shapes
        ):
            return name
    raise InputError(
        f"{subject}: the tensors are of no architecture of open_clip; give model",
        str(path),
        parameter="model",
    )


def _fits(config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> bool:
    """Return True if a configuration has tensors of these shapes."""
    vision = config["vision_cfg"]
    text = config["text_cfg"]
    table = shapes.get("token_embedding.weight")
    positions = shapes.get("positional_embedding")
    patches = shapes.get("visual.positional_embedding")
    kernel = shapes.get("visual.conv1.weight", ())
    layers = vision.get("layers")
    if table is None or positions is None or len(kernel) != 4:
        return False
    if (table[1], positions[0]) != (text.get("width"), text.get("context_length", 77)):
        return False
    if shapes.get("text_projection") != (text.get("width"), config["embed_dim"]):
        return False

    if isinstance(layers, int):  # a vision transformer
        size = vision["patch_size"]
        grid = vision["image_size"] // size if size else 0
        depth = 1 + max(
            (
                int(name.split(".")[3])
                for name in shapes
                if name.startswith("visual.transformer.resblocks.")
            ),
            default=-1,
        )
        return (
            kernel == (vision["width"], 3, size, size)
            and patches == (grid * grid + 1, vision["width"])
            and depth == layers
        )
    return _fits_resnet(vision, layers, shapes)


def _fits_resnet(
    vision: dict[str, Any], layers: object, shapes: dict[str, tuple[int, ...]]
) -> bool:
    """Return True if a modified ResNet has blocks and positions of these shapes."""
    if not isinstance(layers, list):
        return False
    blocks = [
        len(
            {
                name.split(".")[2]
                for name in shapes
                if name.startswith(f"visual.layer{k}.")
            }
        )
        for k in range(1, 5)
    ]
    grid = vision["image_size"] // 32
    positions = shapes.get("visual.attnpool.positional_embedding", (0, 0))
    return (
        blocks == layers
        and positions[0] == grid * grid + 1
        and positions[1] == vision["width"] * 32
    )
