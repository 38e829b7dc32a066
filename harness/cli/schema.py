"""Print the JSON Schema of a spec with the registered names, for completion in editors.

  harness schema > harness.schema.json

A spec then begins with: # yaml-language-server: $schema=harness.schema.json
"""

from __future__ import annotations

import argparse
import json
import sys

from harness.cli.options import add_registry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness schema``."""
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    from harness.spec.schema import json_schema

    json.dump(json_schema(), sys.stdout, indent=1)
    print()
    return 0
