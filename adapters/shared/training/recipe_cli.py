"""Command line of the systems that are trained by a recipe: ``harness train SYSTEM recipe.yaml --output DIR [--resume]``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from harness.adapters.shared.training.recipe import Trainer, read_recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the recipe, ``--output`` and ``--resume`` to a parser."""
    parser.add_argument("recipe", metavar="SPEC.yaml", help="features, captions or scenes, model sizes, epochs, ...")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="continue the run in the folder after its last epoch")


def run(args: argparse.Namespace, trainer: Trainer) -> int:
    """Train by the recipe in ``args.recipe``, print the loss of every epoch and the path of the model; return 0.

    Raises :class:`~harness.errors.HarnessError` for an invalid recipe and for a folder that holds another run.
    """

    def report(row: Mapping[str, Any]) -> None:
        print(f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}", flush=True)

    recipe = read_recipe(args.recipe, trainer.recipe)
    print(trainer.train(recipe, args.output, resume=args.resume, report=report))
    return 0
