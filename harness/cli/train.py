"""Train a model that the harness defines: 'harness train SYSTEM ...'; 'harness train' alone lists the systems.

harness train a3ds --stage baseline --images 500 --epochs 1 --output out/a3ds
"""

from __future__ import annotations

import argparse
import importlib

from harness.cli.parser import Parser


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from harness.registry import current

    systems = parser.add_subparsers(dest="system", metavar="SYSTEM")
    entries = current().entries("trainers")
    for name, entry in {
        entry.name: entry for entry in entries
    }.items():  # of two owners one line; the full name chooses
        systems.add_parser(name, help=entry.summary, add_help=False)


def run(args: argparse.Namespace) -> int:
    from harness.registry import current

    entries = current().entries("trainers")
    if not entries:
        print("no system of this installation can be trained")
        return 0
    width = max(len(entry.name) for entry in entries)
    print("systems that can be trained ('harness train SYSTEM --help' tells more):")
    for entry in entries:
        print(f"  {entry.name:<{width}}  {entry.summary}")
    return 0


def dispatch(arguments: list[str]) -> int | None:
    """Run ``harness train SYSTEM ...`` with the system's own arguments; None when no system is named."""
    if not arguments or arguments[0].startswith("-"):
        return None
    from harness.registry import current

    entry = current().get("trainers", arguments[0])
    module = importlib.import_module(entry.target.partition(":")[0])
    parser = Parser(prog=f"harness train {entry.name}", description=module.__doc__)
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(arguments[1:])) or 0)
