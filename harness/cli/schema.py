"""Print the JSON Schema of a spec with the registered names, for completion in editors.

  harness schema > harness.schema.json

A spec then begins with: # yaml-language-server: $schema=harness.schema.json
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_registry, print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness schema``."""
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    print_verb_result(harness.schema(), as_json=False)
    return 0
