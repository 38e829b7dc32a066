"""Training recipes: frozen dataclasses read from YAML or a mapping, and the trainers that take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from harness.errors import HarnessError, InputError, did_you_mean
from harness.registry import current

T = TypeVar("T")


@dataclass(frozen=True)
class Trainer:
    """A system that is trained by a recipe: the return value of ``trainer()`` in a module registered under ``trainers``.

    Raises :class:`HarnessError` when ``format_version`` is missing or is not an integer of at least 1.
    """

    recipe: type[Any]
    """Dataclass of the recipe."""
    train: Callable[..., Path]
    """``train(recipe, folder, *, resume, report)``. It calls ``report`` with a mapping that holds ``epoch`` after every epoch."""
    format_version: int = 0
    """Version of what the trainer produces, at least 1; required. It is part of the cache key of every trained model.

    Raise it when the same recipe and data would give other weights (another initialisation, loss, order of batches, optimiser or
    tokenisation, here or in a shared module), or files that the adapter no longer reads. Do not raise it for comments, names, moved
    code, speed or log messages: cached models stay valid.
    """

    def __post_init__(self) -> None:
        version = self.format_version
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise HarnessError(
                f"trainer of {self.recipe.__name__}: format_version is {version!r}; expected a whole number of at least 1"
                " (declare FORMAT_VERSION in the training module; it is part of the key of cached models)"
            )


def load_trainer(name: str) -> Trainer:
    """Return the trainer of a system.

    Parameters
    ----------
    name
        Name under ``trainers`` in the registry, as ``harness train`` lists it.

    Raises
    ------
    HarnessError
        If the name is unknown, the system is not trained by a recipe, or its trainer declares no format version.
    """
    module = current().load_module("trainers", name)
    if not hasattr(module, "trainer"):
        raise HarnessError(f"'{name}' is not trained by a recipe; see 'harness train {name} --help'")
    result = module.trainer()
    if not isinstance(result, Trainer):
        raise HarnessError(f"trainer() of '{name}' returns {type(result).__name__}; expected {Trainer.__name__}")
    return result


def read_recipe(path: str | Path, kind: type[T]) -> T:
    """Return the recipe in a YAML file as an instance of the dataclass ``kind``.

    Raises :class:`InputError` for a file that is missing or not a YAML mapping, and as :func:`recipe_from` does.
    """
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


def recipe_from(data: Any, kind: type[T], location: str) -> T:
    """Return ``kind(**data)``.

    Parameters
    ----------
    data
        Mapping of field names to values.
    kind
        Dataclass of the recipe.
    location
        Location for error messages, for example the path of the file.

    Raises
    ------
    InputError
        If ``data`` is not a mapping, a key is unknown or missing, or ``kind`` rejects a value.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"expected a mapping; found {type(data).__name__}", location)
    by_name: dict[str, Field[Any]] = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    for name in data:
        if name not in by_name:
            raise InputError(
                f"unknown key '{name}'{did_you_mean(str(name), by_name)}; keys are {', '.join(by_name)}", location
            )
    for name, item in by_name.items():
        if item.default is MISSING and item.default_factory is MISSING and name not in data:
            raise InputError(f"the key '{name}' is missing", location)
    try:
        return kind(**data)
    except InputError:
        raise
    except HarnessError as error:
        raise InputError(str(error), location) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"a value does not fit ({error})", location) from error
