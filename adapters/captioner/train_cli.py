"""Train a word-level captioner of A3DS scenes: where the image enters (init, pre, par, merge), and at which stages it is kept.

harness train captioner --architecture merge --images 500 --epochs 3 --save-every 50 --output models/merge
harness train captioner SPEC.yaml --output models/merge       # SPEC.yaml: the same settings; options go before it
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from harness.adapters.captioner.training_data import Recipe, recipe_from
from harness.adapters.captioner.training import train
from harness.adapters.shared.training.recipe import Trainer
from harness.errors import HarnessError, InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``harness train captioner``: one per setting of the recipe."""
    parser.add_argument("spec", nargs="?", metavar="SPEC.yaml", help="settings of the recipe (and output) as YAML")
    parser.add_argument("--output", metavar="DIR", help="folder of the run: stages, curve, state")
    parser.add_argument("--resume", action="store_true", help="go on after the last stage in --output")
    for field in fields(Recipe):
        default, option = field.default, "--" + field.name.replace("_", "-")
        if field.name == "save_at":
            parser.add_argument(option, type=int, nargs="+", metavar="STEP", help="steps after which there is a stage")
        else:
            parser.add_argument(option, type=type(default), help=f"default {default}")


def trainer() -> Trainer:
    """The recipe and the training, for Python."""
    return Trainer(Recipe, train)


def run(args: argparse.Namespace) -> int:
    """Train, telling each line of the curve; returns 0."""
    settings, where = _from_spec(args.spec)
    output = args.output or settings.pop("output", None)
    settings.pop("output", None)
    if not output:
        raise HarnessError("harness train captioner needs --output DIR (or output in the spec)")
    given = {field.name: getattr(args, field.name) for field in fields(Recipe)}
    recipe = recipe_from({**settings, **{k: v for k, v in given.items() if v is not None}}, where)

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


def _from_spec(path: str | None) -> tuple[dict[str, Any], str]:
    if path is None:
        return {}, "captioner"
    from harness.files.yaml_source import load

    data = load(Path(path)).data
    if not isinstance(data, dict):
        raise InputError(f"expected a mapping of settings, found {type(data).__name__}", path)
    return dict(data), path
