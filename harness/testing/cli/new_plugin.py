"""Write the package of a new plugin: entry point, registry.yaml, a small component, a
test of its contract, a card.

harness new-plugin my-words --kind metric
cd my-words && python -m pytest && harness check my_words.metric:MyWords
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness new-plugin``."""
    parser.add_argument(
        "name", help="name of the plugin: lower-case letters, digits and hyphens"
    )
    parser.add_argument(
        "--kind",
        default="metric",
        metavar="KIND",
        help="metric (default), distance, embedding, adapter, reader, task, or "
        "command: a metric that is a program in any language",
    )
    parser.add_argument(
        "--output", metavar="DIR", help="folder of the package (default: ./NAME)"
    )


def run(args: argparse.Namespace) -> int:
    """Write the files of the package and print their paths."""
    files = harness.new_plugin(args.name, args.kind, args.output)
    print_verb_result(files, as_json=False)
    return 0
