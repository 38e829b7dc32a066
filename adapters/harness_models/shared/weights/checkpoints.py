"""Safe loading and strict comparison of checkpoints.

Pickles are read with ``weights_only=True``; only the constructors of numpy scalars are
allowed in addition (published files hold a CIDEr score as a numpy float). A file that
needs another class is refused; the message names the class and a remedy. Keys and
shapes must match exactly: the message lists missing and unexpected tensors and those of
another shape, and the architecture that the keys suggest.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import pickle
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.errors import HarnessError, InputError, require
from harness.files.announcements import announce
from harness.files.streams import DAMAGED, readable
from harness.files.whole_folder import (
    name_file,
    sync_folder,
    sync_names,
    temporary_folder,
)
from harness_models.shared.weights.checkpoint_config import read_config

_HOLDERS = ("state_dict", "model_state_dict", "model", "net", "weights")
_MAX_LISTED = 12
"""Maximum number of tensors of one kind in a message."""
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


# --------------------------------------------------------------------------- reading
def load_checkpoint(path: str | Path) -> Checkpoint:
    """Return the tensors and settings of a checkpoint.

    Parameters
    ----------
    path
        A ``.safetensors`` file or a folder with one, a ``.npz`` of arrays, or a PyTorch
        file (``.pt``, ``.bin``, ``.pth.tar``, ...). The settings are the other values
        of a PyTorch file; for the other kinds they are read from ``NAME.json`` or
        ``config.json`` beside it.

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
            return Checkpoint(
                _strip_prefix(
                    read_safetensors(path, "torch", "reading a .safetensors checkpoint")
                ),
                _config_beside(path),
                path,
            )
        if path.suffix == ".npz":
            return Checkpoint(
                _strip_prefix(_read_npz(path)), _config_beside(path), path
            )
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
    multiarray = np._core.multiarray if hasattr(np, "_core") else np.core.multiarray  # type: ignore[attr-defined]
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
    return (
        f" ({lines[0][:160]})"
        if lines and not isinstance(error, (KeyError, IndexError))
        else ""
    )


def _split(data: Any, path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    if isinstance(data, Mapping) and not any(
        isinstance(value, torch.Tensor) for value in data.values()
    ):
        holder = next(
            (name for name in _HOLDERS if isinstance(data.get(name), Mapping)), None
        )
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
    return _strip_prefix(tensors), {
        str(key): value
        for key, value in data.items()
        if not isinstance(value, torch.Tensor)
    }


def _strip_prefix(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors without the key prefix ``module.`` of DataParallel."""
    if not all(key.startswith("module.") for key in tensors):
        return tensors
    return {key.removeprefix("module."): value for key, value in tensors.items()}


# --------------------------------------------------------------------------- strict comparison
def check_keys(
    checkpoint: Checkpoint,
    expected: Mapping[str, tuple[int, ...]],
    architecture: str,
    *,
    ignored: Iterable[str] = (),
) -> None:
    """Raise :class:`InputError` that lists missing and unexpected tensors and those of
    another shape.

    Parameters
    ----------
    checkpoint
        Tensors to compare.
    expected
        Shapes by key.
    architecture
        Name of the model, for the message.
    ignored
        Regular expressions of keys that may be present and are not compared (old
        buffers).
    """
    patterns = [re.compile(pattern) for pattern in ignored]
    shapes = {
        k: s
        for k, s in checkpoint.shapes().items()
        if not any(p.search(k) for p in patterns)
    }
    missing = [
        f"{key} {_shape(expected[key])}" for key in expected if key not in shapes
    ]
    unexpected = [
        f"{key} {_shape(shapes[key])}" for key in shapes if key not in expected
    ]
    reshaped = [
        f"{key} {_shape(shapes[key])}, expected {_shape(expected[key])}"
        for key in expected
        if key in shapes and tuple(shapes[key]) != tuple(expected[key])
    ]
    if not (missing or unexpected or reshaped):
        return
    lists = "; ".join(
        _list_names(title, names)
        for title, names in (
            ("missing", missing),
            ("unexpected", unexpected),
            ("of another shape", reshaped),
        )
        if names
    )
    raise InputError(
        f"does not fit {architecture} ({looks_like(shapes)}): {lists}",
        str(checkpoint.path),
    )


def _shape(shape: Iterable[int]) -> str:
    return "(" + ", ".join(str(size) for size in shape) + ")"


def _list_names(title: str, names: list[str]) -> str:
    more = f", and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"{len(names)} {title}: {', '.join(names[:_MAX_LISTED])}{more}"


def load_strictly(
    module: torch.nn.Module,
    checkpoint: Checkpoint,
    architecture: str,
    *,
    ignored: Iterable[str] = (),
) -> None:
    """Load a checkpoint into ``module`` and put the module into evaluation mode.

    Raises :class:`InputError` as :func:`check_keys` does, and for a tensor with NaN or
    infinity.
    """
    expected = {key: tuple(value.shape) for key, value in module.state_dict().items()}
    check_keys(checkpoint, expected, architecture, ignored=ignored)
    tensors = {
        key: value for key, value in checkpoint.tensors.items() if key in expected
    }
    for key, value in tensors.items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InputError(
                f"the tensor '{key}' holds NaN or infinity", str(checkpoint.path)
            )
    module.load_state_dict(tensors, strict=True)
    module.eval()


def layer_count(keys: Iterable[str], pattern: str) -> int:
    r"""Return 1 plus the largest number that ``pattern`` (one group) matches at the
    start of a key; 0 without a match.

    >>> layer_count(["h.0.weight", "h.11.weight", "ln.bias"], r"h\.(\d+)\.")
    12
    """
    return 1 + max(
        (int(m[1]) for key in keys if (m := re.match(pattern, key))), default=-1
    )


# --------------------------------------------------------------------------- fingerprints and conversion
def file_fingerprint(*paths: str | Path) -> str:
    """Return a SHA-256 over the contents of files and of all files in folders, 16
    hexadecimal digits; paths do not matter.
    """
    digest = hashlib.sha256()
    for path in paths:
        path = Path(path)
        for file in (
            sorted(p for p in path.rglob("*") if p.is_file())
            if path.is_dir()
            else [path]
        ):
            with file.open("rb") as handle:
                digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:16]


def convert(checkpoint: str | Path, to: str | Path, *, force: bool = False) -> Path:
    """Write a checkpoint as ``model.safetensors`` and ``config.json`` to the folder
    ``to``; return the path of the weights.

    Raises :class:`InputError` as :func:`load_checkpoint` does and :class:`HarnessError`
    as :func:`save_checkpoint` does.
    """
    loaded = load_checkpoint(checkpoint)
    return save_checkpoint(loaded.tensors, loaded.settings, to, force=force)


def save_checkpoint(
    tensors: Mapping[str, torch.Tensor],
    settings: Mapping[str, Any],
    to: str | Path,
    *,
    force: bool = False,
) -> Path:
    """Write ``model.safetensors`` and ``config.json`` (settings, and the architecture
    that the keys suggest); return the former path.

    Both files are written to a temporary folder beside them, and are on the disk,
    before the first is renamed. Raises :class:`HarnessError` if a file of other content
    exists (unless ``force``), or a setting cannot be written as JSON.
    """
    safetensors = require(
        "safetensors.torch", extra="models", needed_by="writing a checkpoint"
    )
    folder = Path(to)
    try:
        text = json.dumps(
            {
                "looks_like": looks_like(tensors).removeprefix("it looks like "),
                **_plain(settings),
            },
            indent=1,
            ensure_ascii=False,
        )
    except TypeError as error:
        raise HarnessError(
            f"a setting of the checkpoint cannot be written as JSON: {error}"
        ) from error
    # separates tied tensors
    copies = {
        key: value.detach().cpu().clone().contiguous() for key, value in tensors.items()
    }
    weights = folder / "model.safetensors"
    config = folder / "config.json"
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(weights) as new:
        # safetensors writes a file of a random name beside the one it is given, which a
        # kill would leave.
        with _system_errors(weights):
            safetensors.save_file(
                copies, str(new / weights.name), metadata={"format": "pt"}
            )
        with name_file(config):
            (new / config.name).write_text(text + "\n", encoding="utf-8")
        sync_folder(new)
        for file in (weights, config):
            if (
                file.exists()
                and not force
                and not filecmp.cmp(file, new / file.name, shallow=False)
            ):
                raise HarnessError(
                    f"{file} exists already, with other content; "
                    "choose another folder or use --overwrite"
                )
        for file in (weights, config):
            os.replace(new / file.name, file)
        sync_names(folder)
    return weights


@contextmanager
def _system_errors(path: Path) -> Generator[None]:
    """Context that turns errors of the system, which the Rust library raises as errors
    of its own, into those of Python.
    """
    try:
        yield
    except Exception as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if type(error).__name__ != "SafetensorError" or number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, torch.Tensor) and value.numel() <= 1024:
        return value.tolist()
    return value
