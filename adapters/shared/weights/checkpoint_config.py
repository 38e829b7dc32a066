"""Configuration beside a checkpoint: a mapping, a JSON file, or nothing; what it says must agree with the shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, InputError


def read_config(config: Mapping[str, Any] | str | Path | None) -> dict[str, Any]:
    """``config`` as a dict; raises :class:`InputError` for a file that is no JSON mapping."""
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return dict(config)
    found = read_json(config, "configuration file")
    if not isinstance(found, dict):
        raise InputError("expected a mapping of settings", str(config))
    return found


def read_json(path: str | Path, what: str) -> Any:
    """What a JSON file holds; raises :class:`InputError` when there is no such ``what`` or it is not JSON."""
    path = Path(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"no such {what}", str(path)) from error
    except ValueError as error:
        raise InputError(f"not valid JSON ({error})", str(path)) from error


def config_beside(checkpoint: str | Path) -> dict[str, Any]:
    """``config.json`` in a checkpoint's folder (what ``harness train`` says of features, words and sizes); empty where there is none.

    Raises :class:`InputError` for a checkpoint that is not there.
    """
    path = Path(checkpoint)
    if not path.exists():
        raise InputError("no such checkpoint file", str(path))
    file = (path if path.is_dir() else path.parent) / "config.json"
    return read_config(file) if file.is_file() else {}


def weight_files(checkpoint: str | Path) -> list[Path]:
    """The files that a checkpoint's answers depend on: of a folder its weights and ``config.json``, not what is kept to resume from."""
    path = Path(checkpoint)
    if not path.is_dir():
        return [path]
    return [*sorted(path.glob("*.safetensors")), *(file for file in [path / "config.json"] if file.is_file())]


def must_agree(settings: Mapping[str, Any], sizes: Mapping[str, Any], where: str) -> None:
    """Raise :class:`InputError` for the first size that ``settings`` gives and the checkpoint's shapes contradict."""
    for name, size in sizes.items():
        if name in settings and settings[name] is not None and settings[name] != size:
            raise InputError(f"the configuration says {name} = {settings[name]}, the checkpoint has {size}", where)


def heads_of(settings: Mapping[str, Any], name: str, width: int, default: int | None, where: str) -> int:
    """The number of attention heads, which no shape tells: from ``settings``, else ``default``; must divide ``width``."""
    heads = settings.get(name, default)
    if heads is None:
        raise InputError(
            f"the number of heads cannot be read off a width of {width}: give it in the configuration as {name}", where
        )
    if not isinstance(heads, int) or heads < 1 or width % heads:
        raise InputError(f"{name} must divide the width {width}; found {heads!r}", where)
    return heads


def torch_dtype(name: str) -> Any:
    """The torch dtype called ``name``; raises :class:`HarnessError` for another name."""
    import torch

    kinds = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "float64": torch.float64}
    if name not in kinds:
        raise HarnessError(f"dtype is one of {', '.join(kinds)}; found {name!r}")
    return kinds[name]
