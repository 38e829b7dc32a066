"""Describe a file of captions: how it is read, sizes, lengths, vocabulary, repeated
captions, and the agreement of people.

  harness describe references.json
  harness describe references.jsonl.gz -m cider --json

Files as for harness score --references. The agreement is the score of one caption of
each example, drawn at random, against the others.
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import (
    add_count,
    add_json,
    add_names,
    add_registry,
    print_verb_result,
)
from harness.contracts import EVENTS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness describe``."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="file of references, or several with references of the same examples",
    )

    add_names(
        parser,
        "-m",
        "--metric",
        help="metrics of the agreement (default: those of harness score)",
    )
    parser.add_argument(
        "--events",
        choices=EVENTS,
        help="texts with times: one paragraph of each record, each an item of its own, "
        "or sets of events, whose gaps and overlaps are described (the default where a "
        "record has several)",
    )

    add_count(parser, "--seed", "seed of the drawn captions", 0)
    add_json(parser)
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Print the description."""
    description = harness.describe(
        *args.files, metrics=args.metric, events=args.events, seed=args.seed
    )
    print_verb_result(description, as_json=args.json)
    return 0
