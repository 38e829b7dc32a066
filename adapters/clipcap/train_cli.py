"""Train CLIPCap (a mapper and a small GPT-2) from a YAML recipe: ``harness train clipcap recipe.yaml --output models/clipcap``."""

from __future__ import annotations

import argparse

from harness.adapters.shared.training import recipe_cli
from harness.adapters.shared.training.recipe import Trainer
from harness.adapters.shared.training.recipe_cli import add_arguments as add_arguments


def trainer() -> Trainer:
    """The recipe and the training, for Python."""
    from harness.adapters.clipcap.training import FORMAT_VERSION, ClipCapRecipe, train

    return Trainer(ClipCapRecipe, train, FORMAT_VERSION)


def run(args: argparse.Namespace) -> int:
    """Train; prints a line per epoch. Raises HarnessError for a recipe that does not fit."""
    return recipe_cli.run(args, trainer())
