"""Configuration of a checkpoint: reading it,
and comparing it with the shapes of the tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, InputError
from harness.files.json_text import parse_json


def read_config(config: Mapping[str, Any] | str | Path | None) -> dict[str, Any]:
    """Return a configuration as a dict.

    Parameters
    ----------
    config
        A mapping, the path of a JSON file, or None (an empty dict).

    Raises
    ------
    InputError
        If the file is missing or does not hold a JSON object.

    Examples
    --------
    >>> read_config({"n_head": 12}), read_config(None)
    ({'n_head': 12}, {})
    """
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return dict(config)
    data = read_json(config, "configuration file")
    if not isinstance(data, dict):
        raise InputError("expected a mapping of settings", str(config))
    return data


def read_json(path: str | Path, noun: str) -> Any:
    """Return the content of a JSON file;
    raise :class:`InputError` if it is missing or not JSON.

    ``noun`` names the file in messages.
    """
    path = Path(path)
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"no such {noun}", str(path)) from error
    except ValueError as error:
        raise InputError(f"not valid JSON ({error})", str(path)) from error


def config_beside(checkpoint: str | Path) -> dict[str, Any]:
    """Return ``config.json`` in the folder of a checkpoint,
    an empty dict if there is none.

    ``harness train`` writes features, vocabulary and sizes into that file. Raises
    :class:`InputError` if the checkpoint is missing.
    """
    path = Path(checkpoint)
    if not path.exists():
        raise InputError("no such checkpoint file", str(path))
    file = (path if path.is_dir() else path.parent) / "config.json"
    return read_config(file) if file.is_file() else {}


def weight_files(checkpoint: str | Path) -> list[Path]:
    """Return the files that determine the outputs of a checkpoint.

    For a folder these are its ``.safetensors`` files and ``config.json``, without the
    state of a training; else the file itself.
    """
    path = Path(checkpoint)
    if not path.is_dir():
        return [path]
    return [
        *sorted(path.glob("*.safetensors")),
        *(file for file in [path / "config.json"] if file.is_file()),
    ]


def must_agree(
    settings: Mapping[str, Any], sizes: Mapping[str, Any], path: str
) -> None:
    """Raise :class:`InputError` for the first size in ``settings`` that differs from
    ``sizes``, the sizes of the tensors.
    """
    for name, size in sizes.items():
        if name in settings and settings[name] is not None and settings[name] != size:
            raise InputError(
                f"the configuration says {name} = {settings[name]}, "
                f"the checkpoint has {size}",
                path,
            )


def heads_of(
    settings: Mapping[str, Any], name: str, width: int, default: int | None, path: str
) -> int:
    """Return the number of attention heads, which cannot be derived from tensor shapes.

    Parameters
    ----------
    settings
        Configuration of the checkpoint.
    name
        Key of the number of heads.
    width
        Width of the model; the number of heads must divide it.
    default
        Number of heads if ``settings`` gives none.
    path
        Path of the checkpoint, for messages.

    Raises
    ------
    InputError
        If neither ``settings`` nor ``default`` gives a number, or it does not divide
        ``width``.
    """
    heads = settings.get(name, default)
    if heads is None:
        raise InputError(
            f"the number of heads cannot be read off a width of {width}: "
            f"give it in the configuration as {name}",
            path,
        )
    if not isinstance(heads, int) or heads < 1 or width % heads:
        raise InputError(f"{name} must divide the width {width}; found {heads!r}", path)
    return heads


def torch_dtype(name: str) -> Any:
    """Return the torch dtype ``name``: float32, float16, bfloat16 or float64; raise
    :class:`HarnessError` for another name.
    """
    import torch

    dtypes = {
        "float32": torch.float32,
        "float16": torch.float16,
        "bfloat16": torch.bfloat16,
        "float64": torch.float64,
    }
    if name not in dtypes:
        raise HarnessError(f"dtype is one of {', '.join(dtypes)}; found {name!r}")
    return dtypes[name]
