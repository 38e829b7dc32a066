"""Print the card of a component: description, origin, parameters and their defaults.

harness show cider
harness show metrics/acme/cider --json
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_common, print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness show``."""
    parser.add_argument(
        "name",
        help="a name of 'harness list', or KIND/NAME for a name that several kinds "
        "have",
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the cards of all components with the name, one per kind."""
    print_verb_result(harness.show(args.name), as_json=args.json)
    return 0
