"""Captions of a file as training data."""

from __future__ import annotations

from pathlib import Path

from harness.errors import InputError
from harness_models.shared.weights.checkpoint_config import read_json


def read_captions(path: str | Path) -> list[tuple[str, str]]:
    """Return (example id, caption) pairs of a JSON file of example id -> captions;
    raise :class:`InputError` for another content.
    """
    data = read_json(path, "file of captions")
    if (
        not isinstance(data, dict)
        or not data
        or not all(isinstance(v, list) for v in data.values())
    ):
        raise InputError(
            "expected a mapping of example ids to lists of captions", str(path)
        )

    return [
        (str(name), str(caption))
        for name, captions in data.items()
        for caption in captions
    ]
