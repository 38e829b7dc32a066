"""Create, list and remove the environments that manifests declare for programs.

  harness env list
  harness env create NAME    of the component NAME; uv downloads packages
  harness env remove NAME    of the component NAME, or a folder that 'list' shows

They lie in the folder of caches, each under the hash of its declaration.
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_common, print_verb_result
from harness.programs.environments_verb import ACTIONS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness env``."""
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("name", nargs="?", help="component whose environment is meant")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the action and print the environments."""
    print_verb_result(harness.env(args.action, args.name), as_json=args.json)
    return 0
