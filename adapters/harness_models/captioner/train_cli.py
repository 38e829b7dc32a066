"""Train a word-level captioner of A3DS scenes, with the image in one of four positions (init, pre, par, merge), saved at several stages.

harness train captioner --architecture merge --images 500 --epochs 3 --save-every 50 --output models/merge
harness train captioner SPEC.yaml --output models/merge       # the same settings as YAML; options take precedence
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, InputError
from harness.files.yaml_source import Located, load
from harness_models.captioner.recipe import FORMAT_VERSION, CaptionerRecipe
from harness_models.captioner.training import train
from harness_models.shared.training.recipe import Trainer, recipe_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness train captioner``: one per setting of the recipe."""
    parser.add_argument("spec", nargs="?", metavar="SPEC.yaml", help="settings of the recipe (and output) as YAML")
    parser.add_argument("--output", metavar="DIR", help="folder of the run: stages, curve, state")
    parser.add_argument("--resume", action="store_true", help="continue after the last stage in --output")
    for field in fields(CaptionerRecipe):
        default, option = field.default, "--" + field.name.replace("_", "-")
        if field.name == "save_at":
            parser.add_argument(option, type=int, nargs="+", metavar="STEP", help="steps after which a stage is saved")
        else:
            parser.add_argument(option, type=type(default), help=f"default {default}")


def trainer() -> Trainer:
    """Return the recipe class and the training function, for :mod:`harness_models.trained`."""
    return Trainer(CaptionerRecipe, train, FORMAT_VERSION)


def run(args: argparse.Namespace) -> int:
    """Train, print each line of the curve and the folder of the last stage, and return 0.

    Raises :class:`HarnessError` if no folder is named, or a setting is unknown or out of range.
    """
    source = load(Path(args.spec)) if args.spec else Located({}, {(): ("captioner", 0)})
    if not isinstance(source.data, dict):
        raise InputError(f"expected a mapping of settings, found {type(source.data).__name__}", args.spec)
    named_output = source.data.pop("output", None)
    output = args.output or named_output
    if not output:
        raise HarnessError("harness train captioner needs --output DIR (or output in the spec)")
    options = {field.name: getattr(args, field.name) for field in fields(CaptionerRecipe)}
    source.data.update({name: value for name, value in options.items() if value is not None})
    recipe = recipe_from(source, CaptionerRecipe)

    def report(row: dict[str, Any]) -> None:
        if "stage" in row:
            print(
                f"stage {row['stage']:>3}   step {row['step']:>6}   held-out perplexity {row['perplexity']}", flush=True
            )
        else:
            print(f"            step {row['step']:>6}   loss {row['loss']:.4f}", flush=True)

    last = train(recipe, Path(output), resume=args.resume, report=report)
    print(f"{last}: {recipe.architecture}, {len(recipe.stages)} stages, {recipe.stages[-1]} steps")
    return 0
