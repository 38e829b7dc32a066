"""Entry points of a training module whose options are a recipe and a folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness_models.shared.training.recipe import Trainer, read_recipe


class RecipeCommand(NamedTuple):
    """The three functions that a module named under ``trainers`` in the registry defines."""

    trainer: Callable[[], Trainer]
    """Return the recipe class and the training function."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    """Add the recipe, ``--output`` and ``--resume`` to a parser."""
    run: Callable[[argparse.Namespace], int]
    """Train by the recipe named in the arguments and return 0."""


def recipe_command(recipe: type, train: Callable[..., Path], format_version: int) -> RecipeCommand:
    """Return the entry points of ``harness train SYSTEM recipe.yaml --output DIR [--resume]``.

    A training module ends with ``trainer, add_arguments, run = recipe_command(MyRecipe, train, FORMAT_VERSION)``; the registry
    entry under ``trainers`` names that module. ``run`` prints the loss of every epoch and the path of the weights.

    Parameters
    ----------
    recipe
        Frozen dataclass of the recipe.
    train
        ``train(recipe, folder, *, resume, report)``, which returns the path of the weights.
    format_version
        See :class:`~harness_models.shared.training.recipe.Trainer`.
    """
    system = Trainer(recipe, train, format_version)

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "recipe", metavar="SPEC.yaml", help="features, captions or scenes, model sizes, epochs, ..."
        )
        parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
        parser.add_argument("--resume", action="store_true", help="continue the run in the folder after its last epoch")

    def run(args: argparse.Namespace) -> int:
        values = read_recipe(args.recipe, recipe)
        print(train(values, args.output, resume=args.resume, report=print_epoch))
        return 0

    return RecipeCommand(lambda: system, add_arguments, run)


def print_epoch(row: Mapping[str, Any]) -> None:
    """Print the number and the loss of an epoch."""
    print(f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}", flush=True)
