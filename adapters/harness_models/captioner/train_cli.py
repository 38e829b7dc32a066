"""Train a word-level captioner of A3DS scenes, with the image in one of four positions
(init, pre, par, merge), saved at several stages.

harness train captioner --architecture merge --scenes 500 --epochs 3 \
    --save-every 50 --output models/merge
harness train captioner SPEC.yaml --output models/merge

SPEC.yaml holds the same settings; options take precedence.
"""

from __future__ import annotations

import argparse
from typing import Any

from harness_models.captioner.recipe import FORMAT_VERSION, CaptionerRecipe
from harness_models.captioner.training import train
from harness_models.shared.training.recipe import Trainer
from harness_models.shared.training.recipe_command import (
    add_recipe_options,
    recipe_from_options,
)
from harness_models.shared.training.reward_training import reward_command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness train captioner``: one per setting of the recipe."""
    add_recipe_options(parser, CaptionerRecipe)


def trainer() -> Trainer:
    """Return the recipe class and the training function, for
    :mod:`harness_models.trained`.
    """
    return Trainer(CaptionerRecipe, train, FORMAT_VERSION)


def run(args: argparse.Namespace) -> int:
    """Train; print each line of the curve and the folder of the last stage; return 0.

    Raises :class:`HarnessError` if no folder is named, or a setting is unknown or out
    of range.
    """
    recipe, output = recipe_from_options(args, CaptionerRecipe)

    def report(row: dict[str, Any]) -> None:
        if "stage" in row:
            print(
                f"stage {row['stage']:>3}   step {row['step']:>6}   held-out "
                f"perplexity {row['perplexity']}",
                flush=True,
            )
        else:
            print(
                f"            step {row['step']:>6}   loss {row['loss']:.4f}",
                flush=True,
            )

    last = train(recipe, output, resume=args.resume, report=report)
    print(
        f"{last}: {recipe.architecture}, {len(recipe.stages)} stages, "
        f"{recipe.stages[-1]} steps"
    )
    return 0


by_reward = reward_command("captioner")
