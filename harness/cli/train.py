"""Train a model of the harness: 'harness train SYSTEM ...'.

Without a system, list the systems.

  harness train a3ds --stage baseline --images 500 --epochs 1 --output out/a3ds
  harness train captioner --reward ciderd --checkpoint models/merge \\
      --scenes 300 --output models/merge-ciderd
"""

from __future__ import annotations

import argparse

from harness.cli.options import Parser, entry_module
from harness.errors import HarnessError
from harness.registry import current


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per system."""

    systems = parser.add_subparsers(dest="system", metavar="SYSTEM")
    for entry in current().entries("trainers"):
        systems.add_parser(
            current().bare_name(entry), help=entry.summary, add_help=False
        )


def run(args: argparse.Namespace) -> int:
    """List the systems that can be trained."""

    entries = current().entries("trainers")
    if not entries:
        print("this installation has no system that can be trained")
        return 0
    labels = [current().bare_name(entry) for entry in entries]
    width = max(map(len, labels))
    print(
        "systems that can be trained ('harness train SYSTEM --help' lists the options):"
    )
    for entry, label in zip(entries, labels):
        print(f"  {label:<{width}}  {entry.summary}")
    return 0


def dispatch(arguments: list[str]) -> int | None:
    """Run ``harness train SYSTEM ...`` with the arguments of the system and return its
    exit code; None without a system.
    """
    if not arguments or arguments[0].startswith("-"):
        return None
    name = arguments[0]
    module = entry_module("trainers", name)
    description = module.__doc__
    by_reward = getattr(module, "by_reward", None)

    # A system that rewards can train too has another parser for it.
    if any(word.split("=")[0] == "--reward" for word in arguments):
        if by_reward is None:
            raise HarnessError(
                f"'{name}' is not trained by rewards; 'harness train {name} --help' "
                "lists its options"
            )
        module = by_reward
        description = f"Train {name} further by a reward, from a checkpoint."
        by_reward = None
    further = None
    if by_reward:
        further = (
            f"'harness train {name} --reward METRIC --help' lists the options of a "
            "training by rewards."
        )
    parser = Parser(
        prog=f"harness train {name}", description=description, epilog=further
    )
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(arguments[1:])) or 0)
