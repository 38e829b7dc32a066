"""Train CLIPCap from a YAML recipe: ``harness train clipcap recipe.yaml --output models/clipcap``."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="SPEC.yaml", help="features, captions, mapper, model sizes, epochs, ...")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="go on where the folder's run stopped")


def run(args: argparse.Namespace) -> int:
    """Train; prints a line per epoch. Raises HarnessError for a recipe that does not fit."""
    from harness.adapters.clipcap.training import ClipCapRecipe, train
    from harness.adapters.recipes import read_recipe

    def report(row: dict[str, object]) -> None:
        print(f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}", flush=True)

    print(train(read_recipe(args.recipe, ClipCapRecipe), args.output, resume=args.resume, report=report))
    return 0
