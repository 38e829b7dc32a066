"""Train a two-view transformer from a YAML recipe: ``harness train tvt recipe.yaml --output models/tvt``."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="SPEC.yaml", help="features, captions or scenes, model sizes, epochs, ...")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="go on where the folder's run stopped")


def run(args: argparse.Namespace) -> int:
    """Train; prints a line per epoch. Raises HarnessError for a recipe that does not fit."""
    from harness.adapters.recipes import read_recipe
    from harness.adapters.tvt.training import TvtRecipe, train

    def report(row: dict[str, object]) -> None:
        print(f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}", flush=True)

    path = train(read_recipe(args.recipe, TvtRecipe), args.output, resume=args.resume, report=report)
    print(path)
    return 0
