"""Write finished runs as a data set with a card: to a folder,
or to the Hugging Face hub.

harness push runs/coco --to coco-captions
harness push runs/coco --repo owner/coco-captions --private --license cc-by-4.0
harness push runs/coco --to folder --without-references   # where a licence forbids them
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_flag, print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness push``."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run directories, or folders of run directories",
    )
    parser.add_argument("--to", metavar="DIR", help="folder to write; needs no network")
    parser.add_argument(
        "--repo", metavar="OWNER/NAME", help="data set of the hub; created when missing"
    )
    add_flag(parser, "--private", "create a private data set")
    add_flag(parser, "--overwrite", "replace an earlier push in the folder")
    add_flag(parser, "--without-references", "leave out the references")
    parser.add_argument("--title", default="", help="title of the card")
    parser.add_argument(
        "--license",
        metavar="ID",
        help="licence of the captions for the card (cc-by-4.0)",
    )
    parser.add_argument(
        "--language", metavar="CODE", help="language of the captions for the card (en)"
    )
    parser.add_argument(
        "--task-type",
        default="image-to-text",
        metavar="TYPE",
        help="type of the task for the card",
    )


def run(args: argparse.Namespace) -> int:
    """Write the data set and print its folder or address."""
    pushed = harness.push(
        *args.runs,
        to=args.to,
        repo=args.repo,
        private=args.private,
        overwrite=args.overwrite,
        references=not args.without_references,
        title=args.title,
        license=args.license,
        language=args.language,
        task_type=args.task_type,
    )
    print_verb_result(pushed, as_json=False)
    return 0
