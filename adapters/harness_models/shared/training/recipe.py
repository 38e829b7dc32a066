"""Training recipes: frozen dataclasses read from YAML or a mapping,
and the trainers that take them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from harness.contracts.parameters import Count, check_fields, check_parameters
from harness.errors import HarnessError, InputError
from harness.files.json_text import parse_json
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


# --------------------------------------------------------------------------- recipe command
# Entry points of a training module whose options are a recipe and a folder.


class RecipeCommand(NamedTuple):
    """The three functions that a module named under ``trainers`` in the registry
    defines.
    """

    trainer: Callable[[], Trainer]
    """Return the recipe class and the training function."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    """Add the recipe, ``--output``, ``--resume`` and the settings to a parser."""
    run: Callable[[argparse.Namespace], int]
    """Train by the recipe named in the arguments and return 0."""


def recipe_command(
    recipe: type, train: Callable[..., Path], format_version: int
) -> RecipeCommand:
    """Return the entry points of ``harness train SYSTEM [recipe.yaml] --output DIR
    [--resume]``, with one option per setting.

    A training module ends with ``trainer, add_arguments, run = recipe_command(MyRecipe,
    train, FORMAT_VERSION)``; the registry entry under ``trainers`` names that module.
    ``run`` prints the loss of every epoch and the path of the weights.

    Parameters
    ----------
    recipe
        Frozen dataclass of the recipe.
    train
        ``train(recipe, folder, *, resume, report)``, which returns the path of the
        weights.
    format_version
        See :class:`~harness_models.shared.training.recipe.Trainer`.
    """
    system = Trainer(recipe, train, format_version)

    def run(args: argparse.Namespace) -> int:
        values, output = recipe_from_options(args, recipe)
        print(train(values, output, resume=args.resume, report=print_epoch))
        return 0

    return RecipeCommand(lambda: system, partial(add_recipe_options, kind=recipe), run)


def print_epoch(row: Mapping[str, Any]) -> None:
    """Print the number of an epoch, its loss and further numbers of its line."""
    numbers = [
        f"{name} {value:.4f}"
        for name, value in row.items()
        if name not in ("epoch", "learning_rate")
    ]
    print(f"epoch {row['epoch']:>3}   {'   '.join(numbers)}", flush=True)


# --------------------------------------------------------------------------- options
# The settings of a recipe are options of its command.


def add_recipe_options(parser: argparse.ArgumentParser, kind: type) -> None:
    """Add SPEC.yaml, ``--output``, ``--resume`` and one option per field of the
    dataclass ``kind``; texts in braces are JSON.
    """
    parser.add_argument(
        "spec",
        nargs="?",
        metavar="SPEC.yaml",
        help="settings of the recipe (and output) as YAML",
    )
    parser.add_argument("--output", metavar="DIR", help="folder of the run")
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in --output"
    )
    for field in fields(kind):
        option = "--" + field.name.replace("_", "-")
        default = field.default
        if isinstance(default, tuple):
            parser.add_argument(
                option,
                type=int,
                nargs="+",
                metavar="N",
                help="whole numbers, ascending",
            )
        elif default is MISSING or default is None:
            parser.add_argument(option, type=_text_or_mapping)
        else:
            parser.add_argument(
                option,
                type=_text_or_mapping if isinstance(default, str) else type(default),
                help=f"default {default}",
            )


def _text_or_mapping(text: str) -> Any:
    try:
        return parse_json(text) if text.startswith("{") else text
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


def recipe_from_options(args: argparse.Namespace, kind: type[Any]) -> tuple[Any, Path]:
    """Return the recipe and the folder that the options of :func:`add_recipe_options`
    name; options precede the YAML file.

    Raises :class:`HarnessError` if no folder is named, and as :func:`recipe_from`.
    """
    source = (
        load(Path(args.spec)) if args.spec else Located({}, {(): ("harness train", 0)})
    )
    if not isinstance(source.data, dict):
        raise InputError(
            f"expected a mapping of settings, found {type(source.data).__name__}",
            args.spec,
        )
    named_output = source.data.pop("output", None)
    output = args.output or named_output
    if not output:
        raise HarnessError(
            "the folder is missing: give --output DIR (or output in the spec)"
        )
    options = {field.name: getattr(args, field.name) for field in fields(kind)}
    source.data.update(
        {name: value for name, value in options.items() if value is not None}
    )
    return recipe_from(source, kind), Path(output)
