"""Training recipes: frozen dataclasses read from YAML or a mapping,
and the trainers that take them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.contracts.parameters import Count, check_fields, check_parameters
from harness.errors import HarnessError, InputError
from harness.files.yaml_source import Located, load
from harness.registry import current

T = TypeVar("T")


@dataclass(frozen=True)
class Trainer:
    """A system that is trained by a recipe: the return value of ``trainer()`` in a
    module registered under ``trainers``.

    Raises :class:`HarnessError` when ``format_version`` is missing or is not an integer
    of at least 1.
    """

    recipe: type[Any]
    """Dataclass of the recipe."""
    train: Callable[..., Path]
    """``train(recipe, folder, *, resume, report)``. It calls ``report`` with a mapping
    that holds ``epoch`` after every epoch.
    """
    format_version: Count = 0
    """Version of what the trainer produces, at least 1;
    required (FORMAT_VERSION of the training module).

    It is part of the cache key of every trained model.

    Raise it when the same recipe and data would give other weights (another
    initialisation, loss, order of batches, optimiser or tokenisation, here or in a
    shared module), or files that the adapter no longer reads. Do not raise it for
    comments, names, moved code, speed or log messages: cached models stay valid.
    """

    def __post_init__(self) -> None:
        check_fields(f"trainer of {self.recipe.__name__}", self)


def load_trainer(name: str) -> Trainer:
    """Return the trainer of a system.

    Parameters
    ----------
    name
        Name under ``trainers`` in the registry, as ``harness train`` lists it.

    Raises
    ------
    HarnessError
        If the name is unknown, the system is not trained by a recipe, or its trainer
        declares no format version.
    """
    module = current().load_module("trainers", name)
    if not hasattr(module, "trainer"):
        raise HarnessError(
            f"'{name}' is not trained by a recipe; see 'harness train {name} --help'"
        )
    result = module.trainer()
    if not isinstance(result, Trainer):
        raise HarnessError(
            f"trainer() of '{name}' returns {type(result).__name__}; "
            f"expected {Trainer.__name__}"
        )
    return result


def read_recipe(path: str | Path, kind: type[T]) -> T:
    """Return the recipe in a YAML file as an instance of the dataclass ``kind``; raises
    as :func:`recipe_from` and for other files.
    """
    return recipe_from(load(Path(path)), kind)


def recipe_from(source: Located, kind: type[T]) -> T:
    """Return ``kind(**source.data)``; digits as text are numbers where the default is a
    whole number.

    Raises
    ------
    InputError
        With file and line: if the data are no mapping, a key is unknown or missing, or
        ``kind`` rejects a value.
    """
    if not isinstance(source.data, Mapping):
        raise InputError(
            f"expected a mapping; found {type(source.data).__name__}", source.where(())
        )
    # Variables of the environment are texts.
    is_number = {
        name
        for name, value in source.data.items()
        if str(value).isdecimal() and isinstance(getattr(kind, name, None), int)
    }

    data = {
        name: int(value) if name in is_number else value
        for name, value in source.data.items()
    }

    try:
        check_parameters("the recipe", kind, data)
        return kind(**data)
    except HarnessError as error:
        key = (error.parameter,) if error.parameter else ()
        raise InputError(
            error.message,
            source.where(key),
            parameter=error.parameter,
            value=error.value,
        ) from error
