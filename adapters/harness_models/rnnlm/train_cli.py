"""Train a word-level recurrent language model on text files, one sentence a line.

harness train rnnlm --corpus train.txt --output models/rnnlm --epochs 30
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

from harness.errors import HarnessError
from harness_models.rnnlm.training import RnnLmRecipe, train
from harness_tasks.readers.lines import Lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness train rnnlm``: the corpus,
    and one option per setting of the recipe.
    """
    parser.add_argument(
        "--corpus",
        nargs="+",
        required=True,
        metavar="FILE",
        help="text files (.txt, .gz), one sentence a line",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="DIR",
        help="folder for model.safetensors and config.json",
    )

    parser.add_argument(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="shuffle the lines before --offset and --limit apply",
    )
    parser.add_argument(
        "--offset", type=int, default=0, metavar="N", help="skip the first N lines"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="use at most N lines")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the model in the folder"
    )

    for field in fields(RnnLmRecipe):
        kind = float if isinstance(field.default, float) else int
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(
            option, type=kind, default=field.default, help=f"default {field.default}"
        )


def run(args: argparse.Namespace) -> int:
    """Train, print a line per epoch and the path of the weights, and return 0.

    Raises :class:`HarnessError` if the folder holds a model and ``--overwrite`` is not
    set.
    """
    folder = Path(args.output)
    files = (folder / "model.safetensors", folder / "config.json")
    if not args.overwrite and any(file.exists() for file in files):
        raise HarnessError(
            f"{folder} holds a model already; choose another folder or say --overwrite"
        )

    values = {field.name: getattr(args, field.name) for field in fields(RnnLmRecipe)}
    recipe = RnnLmRecipe(**values)
    corpus = Lines(
        path=args.corpus, shuffle=args.shuffle, offset=args.offset, limit=args.limit
    )

    def report(row: dict[str, object]) -> None:
        print(
            f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}   held-out perplexity "
            f"{row['perplexity']}",
            flush=True,
        )

    result = train(corpus.lines(), recipe, report)
    path = result.model.save(folder, result.settings, force=args.overwrite)
    print(
        f"{path}: {result.settings['vocabulary']} words, "
        f"{result.settings['sentences']} sentences"
    )
    return 0
