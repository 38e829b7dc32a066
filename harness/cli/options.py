"""Options that several verbs share."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def add_registry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--registry", action="append", default=[], metavar="FILE", help="a further registry.yaml (may be repeated)"
    )


def use_registry(args: argparse.Namespace) -> None:
    if args.registry:
        from harness.registry import use_files

        use_files(args.registry)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs instead of text for people")


def print_json(value: Any) -> None:
    """JSON on stdout: no NaN, keys in order."""
    from harness.rundir.format import to_json

    sys.stdout.write(json.dumps(json.loads(to_json(value)), indent=1, ensure_ascii=True) + "\n")
