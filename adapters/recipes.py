"""Training recipes from YAML: a frozen dataclass, unknown keys refused with the nearest name."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from harness.errors import InputError, did_you_mean

T = TypeVar("T")


def read_recipe(path: str | Path, kind: type[T]) -> T:
    """``kind(**mapping)`` of a YAML file. Raises :class:`InputError` for a missing file, no mapping, and unknown or missing keys."""
    path = Path(path)
    try:
        data: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("no such recipe", str(path)) from error
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML ({str(error).splitlines()[0]})", str(path)) from error
    if not isinstance(data, dict):
        raise InputError("expected a mapping", str(path))
    known = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    for name in data:
        if name not in known:
            raise InputError(
                f"unknown key '{name}'{did_you_mean(str(name), known)}; keys are {', '.join(known)}", str(path)
            )
    needed = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in data]
    if needed:
        raise InputError(f"the key '{needed[0]}' is missing", str(path))
    return kind(**data)
