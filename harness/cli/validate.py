"""Check syntax, keys, values, names and parameters of a spec, its data and their
images, and estimate its cost; nothing is generated or scored.

  harness validate spec.yaml
  harness validate coco --set models.0=human    a shipped task, with a key changed
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import (
    add_common,
    add_list,
    add_permissions,
    print_verb_result,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness validate``."""
    parser.add_argument("spec", help="a YAML file, or the name of a shipped task")
    add_list(parser, "--set", "KEY=VALUE", "override a key")
    add_common(parser)
    add_permissions(parser)


def run(args: argparse.Namespace) -> int:
    """Print task, models, decodings and metrics of a valid spec."""
    result = harness.validate(args.spec, overrides=args.set)
    print_verb_result(result, as_json=args.json)
    return 0
