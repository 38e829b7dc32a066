"""Cache key of a trained model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness_models.shared.training.recipe import Trainer


def model_key(name: str, trainer: Trainer, recipe: Any) -> str:
    """Return the cache key of a model, 24 hexadecimal digits.

    The key depends on the name of the system, ``trainer.format_version``, the values of
    ``recipe``, the contents of the files that the recipe names, and the version of the
    A3DS renderer. It does not depend on source code: a trainer whose results change
    raises its format version.

    Parameters
    ----------
    name
        Name of the system, as ``harness train`` lists it.
    trainer
        The trainer of the system.
    recipe
        Instance of ``trainer.recipe``.
    """
    from harness_tasks.a3ds.render import VERSION

    values = asdict(recipe)
    values_of_key = [
        name,
        trainer.format_version,
        values,
        sorted(_file_hashes(values)),
        VERSION,
    ]
    text = json.dumps(values_of_key, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _file_hashes(value: Any) -> Iterable[str]:
    """Yield the SHA-256 of every file named anywhere in a value of mappings,
    sequences and strings.
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _file_hashes(item)
    elif isinstance(value, str) and value and Path(value).is_file():
        with open(value, "rb") as file:
            yield hashlib.file_digest(file, "sha256").hexdigest()
