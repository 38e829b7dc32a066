"""Entry points of a training module whose options are a recipe and a folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from harness.adapters.shared.training import recipe_cli
from harness.adapters.shared.training.recipe import Trainer


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
    entry under ``trainers`` names that module.

    Parameters
    ----------
    recipe
        Frozen dataclass of the recipe.
    train
        ``train(recipe, folder, *, resume, report)``, which returns the path of the weights.
    format_version
        See :class:`~harness.adapters.shared.training.recipe.Trainer`.
    """
    system = Trainer(recipe, train, format_version)

    def run(args: argparse.Namespace) -> int:
        return recipe_cli.run(args, system)

    return RecipeCommand(lambda: system, recipe_cli.add_arguments, run)
