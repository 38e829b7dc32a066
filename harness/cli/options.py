"""Options of several verbs."""

from __future__ import annotations

import argparse
import json
import sys
from types import ModuleType


def entry_module(kind: str, name: str) -> ModuleType:
    """Import and return the module of a registered command or trainer; raise :class:`HarnessError` when it cannot be imported."""
    from harness.registry import current

    return current().load_module(kind, name)


def add_registry(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--registry``."""
    parser.add_argument(
        "--registry", action="append", default=[], metavar="FILE", help="an additional registry.yaml (may be repeated)"
    )


def use_registry(args: argparse.Namespace) -> None:
    """Add the registry files of ``--registry`` to the registry of this process."""
    if args.registry:
        from harness.registry import use_files

        use_files(args.registry)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def print_json(value: object) -> None:
    """Print JSON on stdout: ASCII, keys in order, null for NaN."""
    from harness.rundir.format import to_json

    sys.stdout.write(json.dumps(json.loads(to_json(value)), indent=1, ensure_ascii=True) + "\n")
