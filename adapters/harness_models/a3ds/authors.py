"""Checkpoint files of the agents: the authors' state dicts,
and the safetensors of this project.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from harness.errors import InputError
from harness.files.json_text import parse_json
from harness_models.a3ds.vocabulary import WORDS, Vocabulary
from harness_models.shared.weights.checkpoints import load_checkpoint


def read_state(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the float32 tensors of a file by name, and the metadata that
    :func:`save_state` stored.

    Files are safetensors, ``.npz``, or state dicts of torch (``.pkl``, ``.pt``). No
    code of the file is run.

    Raises
    ------
    InputError
        If the file does not exist or holds no plain state dict.
    """
    tensors = load_checkpoint(path).tensors
    meta = {}
    if Path(path).suffix == ".safetensors":
        from safetensors import safe_open

        with safe_open(str(path), "pt") as file:
            meta = parse_json((file.metadata() or {}).get("a3ds", "{}"))
    return {key: value.float() for key, value in tensors.items()}, meta


def save_state(
    path: str | Path, state: Mapping[str, torch.Tensor], meta: Mapping[str, Any]
) -> None:
    """Write tensors as float16 safetensors with ``meta`` as JSON in the header,
    atomically.
    """
    from safetensors.torch import save_file

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    save_file(
        {k: v.half().contiguous() for k, v in state.items()},
        partial,
        {"a3ds": json.dumps(meta, sort_keys=True)},
    )
    partial.replace(path)


def joined_listener_state(
    message: Mapping[str, torch.Tensor], image: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Return the state of a listener from the authors' two files,
    the message encoder and the image encoder.

    The weights of the image encoder's ResNet (``resnet.*``) are left out: listeners
    read image features.
    """
    state = {f"rnn.{key}": value for key, value in message.items()}
    return state | {
        f"encoder.{key}": value
        for key, value in image.items()
        if not key.startswith("resnet.")
    }


def stored_vocabulary(
    path: str | Path, count: int, vocabulary: str | Path | None, meta: Mapping[str, Any]
) -> Vocabulary:
    """Return the words of a checkpoint.

    Parameters
    ----------
    path
        Checkpoint, for error messages.
    count
        Number of words of the checkpoint.
    vocabulary
        JSON file of word to id, or None: the words in ``meta``, else the published 47.
    meta
        Metadata of the checkpoint.

    Raises
    ------
    InputError
        If the file is malformed, or the number of words is not ``count``.
    """
    words: tuple[str, ...] = tuple(meta.get("words", WORDS))
    if vocabulary is not None:
        try:
            table = parse_json(Path(vocabulary).read_text())
            if isinstance(table, dict):
                table = sorted(table, key=table.__getitem__)
            words = tuple(table)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"no JSON vocabulary of word -> id ({error})", str(vocabulary)
            ) from None

    # A list of another length would give words that the speaker never learned.
    if len(words) != count:
        source = (
            str(vocabulary) if vocabulary is not None else "the published vocabulary"
        )
        raise InputError(
            f"checkpoint of {count} words, but {source} has {len(words)}: "
            "give the checkpoint's vocabulary",
            str(path),
        )
    return Vocabulary(words)
