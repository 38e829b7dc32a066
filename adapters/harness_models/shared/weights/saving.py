"""Checkpoints written as safetensors and JSON."""

from __future__ import annotations

import filecmp
import json
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.errors import HarnessError, require
from harness.files.whole_folder import (
    name_file,
    sync_folder,
    sync_names,
    temporary_folder,
)
from harness_models.shared.weights.checkpoints import load_checkpoint, looks_like


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
        architecture = looks_like(tensors).removeprefix("it looks like ")
        values = {"looks_like": architecture, **_plain(settings)}
        text = json.dumps(values, indent=1, ensure_ascii=False)
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
                    "choose another folder or overwrite them"
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
