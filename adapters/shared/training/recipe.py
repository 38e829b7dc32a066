"""Training recipes, from YAML or a mapping: a frozen dataclass, unknown keys refused with the nearest name; and who trains by them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import yaml

from harness.errors import HarnessError, InputError, did_you_mean
from harness.registry import current

T = TypeVar("T")


class Trainer(NamedTuple):
    """What a module named under ``trainers`` gives from its function ``trainer()``."""

    recipe: type
    """The recipe's dataclass."""
    train: Callable[..., Path]
    """``train(recipe, folder, *, resume, report)``; ``report`` gets a mapping with ``epoch`` and more, again and again."""


def trainer(name: str) -> Trainer:
    """The trainer of a system (``harness train`` lists them). Raises :class:`HarnessError` for one that takes no recipe."""
    entry = current().get("trainers", name)
    with entry.import_path():
        module = importlib.import_module(entry.target.partition(":")[0])
    if not hasattr(module, "trainer"):
        raise HarnessError(f"'{name}' is not trained by a recipe; see 'harness train {name} --help'")
    return module.trainer()


def read_recipe(path: str | Path, kind: type[T]) -> T:
    """``kind(**mapping)`` of a YAML file. Raises :class:`InputError` for a missing file, no mapping, and unknown or missing keys."""
    path = Path(path)
    try:
        data: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InputError("no such recipe", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("not a text file", str(path)) from error
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML ({str(error).splitlines()[0]})", str(path)) from error
    return recipe_from(data, kind, str(path))


def recipe_from(data: Any, kind: type[T], where: str) -> T:
    """``kind(**data)``. Raises :class:`InputError` at ``where`` for no mapping, unknown or missing keys, and values that do not fit."""
    if not isinstance(data, Mapping):
        raise InputError(f"expected a mapping; found {type(data).__name__}", where)
    known = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    for name in data:
        if name not in known:
            raise InputError(
                f"unknown key '{name}'{did_you_mean(str(name), known)}; keys are {', '.join(known)}", where
            )
    needed = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING and n not in data]
    if needed:
        raise InputError(f"the key '{needed[0]}' is missing", where)
    try:
        return kind(**data)
    except InputError:
        raise
    except HarnessError as error:
        raise InputError(str(error), where) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"a value does not fit ({error})", where) from error
