"""``harness train SYSTEM recipe.yaml --output DIR [--resume]`` for every system whose training is a recipe."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.adapters.shared.training.recipe import read_recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="SPEC.yaml", help="features, captions or scenes, model sizes, epochs, ...")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="go on where the folder's run stopped")


def run(args: argparse.Namespace, kind: type, train: Callable[..., Path]) -> int:
    """Train by a recipe of ``kind``; prints a line per epoch. Raises HarnessError for a recipe that does not fit."""

    def report(row: dict[str, Any]) -> None:
        print(f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}", flush=True)

    print(train(read_recipe(args.recipe, kind), args.output, resume=args.resume, report=report))
    return 0
