"""Train a model of the NACF family (method ARB, NAB or NACF) from a YAML recipe: ``harness train nacf recipe.yaml --output models/nacf``."""

from __future__ import annotations

import argparse

from harness.adapters import recipe_cli
from harness.adapters.recipe_cli import add_arguments as add_arguments


def run(args: argparse.Namespace) -> int:
    """Train; prints a line per epoch. Raises HarnessError for a recipe that does not fit."""
    from harness.adapters.o2na.training import NacfRecipe, train

    return recipe_cli.run(args, NacfRecipe, train)
