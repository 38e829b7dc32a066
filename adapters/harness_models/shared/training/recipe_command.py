"""Command of a trainer whose options are the settings of a recipe, and a folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError, InputError
from harness.files.json_text import parse_json
from harness.files.yaml_source import Located, load
from harness_models.shared.training.recipe import Trainer, recipe_from


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
    if args.spec:
        source = load(Path(args.spec))
    else:
        source = Located({}, {(): ("harness train", 0)})

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
