"""List the registered components of one kind or of all kinds; no component is imported.

Metrics are grouped by their question: the twenty that answer the usual ones, and with
--all every one. Tasks are grouped by what they need, those that need nothing first.

harness list
harness list metrics --all
harness list metrics --json
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import harness
from harness.cli.options import add_common, add_flag, print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness list``."""
    parser.add_argument(
        "kind",
        nargs="?",
        help="adapters, tasks, readers, metrics, distances, "
        "embeddings or forms (of files)",
    )
    add_flag(parser, "--all", "print every metric (--json always does)")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the names by which components are used, with their summaries, and the
    plugins that cannot be read.
    """
    catalogue = harness.list(args.kind)
    print_verb_result(replace(catalogue, is_full=args.all), as_json=args.json)
    return 0
