"""Train a word-level recurrent language model on text files, one sentence a line.

harness train rnnlm --corpus train.txt --output models/rnnlm --epochs 30
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

from harness.adapters.rnnlm.training import Recipe, train
from harness.errors import HarnessError
from harness.tasks.readers.lines import Lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpus", nargs="+", required=True, metavar="FILE", help="text files (.txt, .gz), one sentence a line"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="folder for model.safetensors and config.json")
    parser.add_argument(
        "--shuffle", type=int, metavar="SEED", help="put the lines into a random order before they are cut"
    )
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="leave out the first N lines")
    parser.add_argument("--limit", type=int, metavar="N", help="use N lines")
    parser.add_argument("--force", action="store_true", help="replace the model in the folder")
    for field in fields(Recipe):
        kind = float if isinstance(field.default, float) else int
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(option, type=kind, default=field.default, help=f"default {field.default}")


def run(args: argparse.Namespace) -> int:
    folder = Path(args.output)
    if (folder / "config.json").exists() and not args.force:
        raise HarnessError(f"{folder} holds a model already; choose another folder or say --force")
    recipe = Recipe(**{field.name: getattr(args, field.name) for field in fields(Recipe)})
    lines = Lines(path=args.corpus, shuffle=args.shuffle, offset=args.offset, limit=args.limit).lines()

    def report(row: dict[str, object]) -> None:
        print(f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}   held-out perplexity {row['perplexity']}", flush=True)

    made = train(lines, recipe, report)
    path = made.model.save(folder, made.settings, force=args.force)
    print(f"{path}: {made.settings['vocabulary']} words, {made.settings['sentences']} sentences")
    return 0
