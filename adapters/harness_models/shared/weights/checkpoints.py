"""Safe loading of checkpoints.

Pickles are read with ``weights_only=True``; only the constructors of numpy scalars are
allowed in addition (published files hold a CIDEr score as a numpy float). A file that
needs another class is refused; the message names the class and a remedy. Keys and
shapes must match exactly: the message lists missing and unexpected tensors and those of
another shape, and the architecture that the keys suggest.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.errors import InputError, require
from harness.files.announcements import announce
from harness.files.streams import DAMAGED, readable
from harness.files.torchscript import is_torchscript, read_torchscript
from harness_models.shared.weights.checkpoint_config import read_config

_HOLDERS = ("state_dict", "model_state_dict", "model", "net", "weights")
# (name, patterns): the first entry whose patterns all match a key applies
_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("CLIPCap (transformer mapper)", (r"^clip_project\.transformer\.", r"^gpt\.")),
    ("CLIPCap (MLP mapper)", (r"^clip_project\.(model\.0\.|weight)", r"^gpt\.")),
    ("CLIPCap (mapper alone, GPT-2 weights left out)", (r"^clip_project\.",)),
    ("VLP", (r"^vis_embed\.", r"^bert\.encoder\.")),
    ("O2NA (of this harness)", (r"^object_predictor\.", r"^refiner\.|^decoder\.")),
    ("NACF or ARB2", (r"^tgt_word_prj\.", r"^decoder\.bert\.")),
    ("ARB or NAB", (r"^tgt_word_prj\.", r"^decoder\.layer\.")),
    (
        "TVT (of this harness)",
        (r"^views\.", r"^fusion\.|^decoder\.layers\.\d+\.fusion"),
    ),
    ("captioner (of this harness)", (r"^feature_map\.", r"^cell\.|^layers\.")),
    (
        "A3DS speaker",
        (r"^project\.weight$", r"^lstm\.weight_ih_l0$", r"^linear\.weight$"),
    ),
    ("A3DS listener", (r"^lstm\.weight_ih_l0$", r"^embed\.weight$")),
    (
        "a BERT model of transformers",
        (r"^(bert\.)?encoder\.layer\.\d+\.attention\.self\.query\.",),
    ),
    ("a GPT-2 model of transformers", (r"^(transformer\.)?h\.\d+\.attn\.c_attn\.",)),
    (
        "a LLaMA-style model of transformers",
        (r"^(model\.)?layers\.\d+\.self_attn\.q_proj\.",),
    ),
)


@dataclass(frozen=True)
class Checkpoint:
    """Tensors and settings of a checkpoint."""

    tensors: dict[str, torch.Tensor]
    """Tensors by key."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Other values of the file, or of the JSON file beside it."""
    path: Path = Path()
    """Path of the file, for messages."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tensors by key."""
        return {key: tuple(value.shape) for key, value in self.tensors.items()}

    def shape(self, key: str, architecture: str) -> tuple[int, ...]:
        """Return the shape of a tensor; raise :class:`InputError` if it is missing.

        The message says what the keys look like.
        """
        if key not in self.tensors:
            raise InputError(
                f"no tensor '{key}', so this is no {architecture} checkpoint; "
                f"{looks_like(self.tensors)}",
                str(self.path),
            )
        return tuple(self.tensors[key].shape)

    def words(self) -> list[str]:
        """Return the setting ``words``; raise :class:`InputError` unless it is a list
        of words.
        """
        words = self.settings.get("words")
        if not isinstance(words, list) or not all(
            isinstance(word, str) for word in words
        ):
            raise InputError(
                "the settings beside the checkpoint hold no list of words",
                str(self.path),
            )
        return words


def looks_like(keys: Iterable[str]) -> str:
    """Return ``it looks like NAME`` for an architecture that the keys suggest; for
    unknown keys list the first ones.

    >>> looks_like(["vis_embed.0.weight", "bert.encoder.layer.0.output.dense.weight"])
    'it looks like VLP'
    """
    names = list(keys)
    for name, patterns in _MARKS:
        if all(any(re.search(pattern, key) for key in names) for pattern in patterns):
            return f"it looks like {name}"
    return (
        "it looks like no known architecture (first keys: "
        f"{', '.join(sorted(names)[:4]) or 'none'})"
    )


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Return the tensors and settings of a checkpoint.

    Parameters
    ----------
    path
        A ``.safetensors`` file or a folder with one, a ``.npz`` of arrays, or a PyTorch
        file (``.pt``, ``.bin``, ``.pth.tar``, ...), of TorchScript too. The settings
        are the other values of a PyTorch file; for the other kinds they are read from
        ``NAME.json`` or ``config.json`` beside it.

    Raises
    ------
    InputError
        If the file is missing, truncated or not a checkpoint, or contains objects that
        safe loading refuses.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        if len(files) != 1:
            raise InputError(
                f"a checkpoint folder holds one .safetensors file; found {len(files)}",
                str(path),
            )
        path = files[0]

    if not path.is_file():
        raise InputError("no such checkpoint file", str(path))
    with announce(f"loading {path.name}"):
        if path.suffix == ".safetensors":
            needed_by = "reading a .safetensors checkpoint"
            tensors = read_safetensors(path, "torch", needed_by)
            return Checkpoint(_strip_prefix(tensors), _config_beside(path), path)

        if path.suffix == ".npz":
            return Checkpoint(
                _strip_prefix(_read_npz(path)), _config_beside(path), path
            )

        if is_torchscript(path):
            archive = read_torchscript(path)
            arrays = {
                key: torch.from_numpy(array) for key, array in archive.tensors.items()
            }
            return Checkpoint(_strip_prefix(arrays), dict(archive.settings), path)

        tensors, settings = _split(_read_torch(path), path)
        return Checkpoint(tensors, settings, path)


def read_safetensors(path: Path, arrays: str, needed_by: str) -> dict[str, Any]:
    """Return the arrays of a safetensors file as ``torch`` or ``numpy`` arrays; raise
    :class:`InputError` for a file that is damaged.
    """
    safetensors = require(f"safetensors.{arrays}", extra="models", needed_by=needed_by)
    try:
        with readable(path, "safetensors file"):
            return safetensors.load_file(str(path))
    except InputError:
        raise
    except Exception as error:  # the Rust library raises its own error class
        if type(error).__name__ != "SafetensorError":
            raise
        raise InputError(
            f"not a complete safetensors file ({error})", str(path)
        ) from error


def _read_npz(path: Path) -> dict[str, torch.Tensor]:
    with readable(path, ".npz of arrays"), np.load(path, allow_pickle=False) as archive:
        return {key: torch.from_numpy(archive[key]) for key in archive.files}


def _config_beside(path: Path) -> dict[str, Any]:
    files = (path.with_suffix(".json"), path.with_name("config.json"))
    return read_config(next((file for file in files if file.is_file()), None))


def numpy_scalar_pieces() -> list[Any]:
    """Return the objects that ``weights_only`` must allow for numpy scalars, under the
    names of numpy 1 and numpy 2.
    """
    numpy: Any = np
    core = numpy._core if hasattr(numpy, "_core") else numpy.core
    multiarray = core.multiarray
    kinds = (
        "Float64DType",
        "Float32DType",
        "Float16DType",
        "Int64DType",
        "Int32DType",
        "BoolDType",
    )

    return [
        (multiarray.scalar, "numpy.core.multiarray.scalar"),
        (multiarray.scalar, "numpy._core.multiarray.scalar"),
        np.dtype,
        *(getattr(np.dtypes, kind) for kind in kinds),
        __import__("_codecs").encode,
    ]


def _read_torch(path: Path) -> Any:
    try:
        with torch.serialization.safe_globals(numpy_scalar_pieces()):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        match = re.search(
            r"Unsupported global: GLOBAL (\w+) was|(?:GLOBAL|class) ([\w.]+\.[\w.]+)",
            str(error)[:2000],
        )
        if match:
            raise InputError(
                f"holds an object of type {match[1] or match[2]}, "
                "which safe loading refuses; in the code base that wrote the file, "
                "load it and save the plain state dict again "
                "(torch.save(model.state_dict(), ...)) or write safetensors",
                str(path),
            ) from error
        raise InputError(
            f"not a checkpoint, or truncated{_reason(error)}", str(path)
        ) from error
    except MemoryError as error:
        with readable(path, "checkpoint"):
            raise error
    except DAMAGED as error:
        raise InputError(
            f"not a checkpoint, or truncated{_reason(error)}", str(path)
        ) from error


def _reason(error: BaseException) -> str:
    """Return the first line of torch's message in parentheses, without its advice on
    unsafe loading; empty for KeyError and IndexError.
    """
    lines = (
        str(error).partition("WeightsUnpickler error: ")[2].splitlines()
        or str(error).strip().splitlines()
    )
    if not lines or isinstance(error, (KeyError, IndexError)):
        return ""
    return f" ({lines[0][:160]})"


def _split(data: Any, path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    if isinstance(data, Mapping) and not any(
        isinstance(value, torch.Tensor) for value in data.values()
    ):
        holders = (name for name in _HOLDERS if isinstance(data.get(name), Mapping))
        holder = next(holders, None)
        if holder is not None:
            settings = {str(key): value for key, value in data.items() if key != holder}
            return _split(data[holder], path)[0], settings
    if not isinstance(data, Mapping) or not data:
        raise InputError(
            f"expected a state dict; found {type(data).__name__}", str(path)
        )

    tensors = {
        str(key): value
        for key, value in data.items()
        if isinstance(value, torch.Tensor)
    }
    if not tensors:
        raise InputError(
            f"no tensors in it (keys: {', '.join(map(str, list(data)[:6]))})", str(path)
        )

    settings = {
        str(key): value
        for key, value in data.items()
        if not isinstance(value, torch.Tensor)
    }
    return _strip_prefix(tensors), settings


def _strip_prefix(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors without the key prefix ``module.`` of DataParallel."""
    if not all(key.startswith("module.") for key in tensors):
        return tensors
    return {key.removeprefix("module."): value for key, value in tensors.items()}
