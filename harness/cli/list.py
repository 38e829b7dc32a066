"""List the registered components of one kind or of all kinds; no component is imported.

Metrics are grouped by their question.

harness list
harness list metrics --json
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_common, print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness list``."""
    parser.add_argument(
        "kind",
        nargs="?",
        help="adapters, tasks, readers, metrics, distances, "
        "embeddings or forms (of files)",
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the names by which components are used, with their summaries, and the
    plugins that cannot be read.
    """
    print_verb_result(harness.list(args.kind), as_json=args.json)
    return 0
