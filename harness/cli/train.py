"""Train a model of the harness: 'harness train SYSTEM ...'.

Without a system, list the systems.

  harness train a3ds --stage baseline --images 500 --epochs 1 --output out/a3ds
  harness train captioner --reward ciderd --checkpoint models/merge \\
      --scenes 300 --output models/merge-ciderd
"""

from __future__ import annotations

import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

from harness.cli.options import Parser, entry_module, print_verb_result
from harness.contracts import Values, VerbResult
from harness.errors import HarnessError
from harness.registry import current


@dataclass(frozen=True)
class Trainers(VerbResult):
    """Systems that can be trained."""

    ROWS = "systems"

    systems: Sequence[Values]
    """Per system: its name and a summary."""

    def to_dict(self) -> Values:
        """Return the systems."""
        return {"systems": list(self.systems)}

    def blocks(self) -> Iterator[str]:
        """Yield the systems with their summaries."""
        if not self.systems:
            yield "this installation has no system that can be trained"
            return
        width = max(len(row["system"]) for row in self.systems)
        yield (
            "systems that can be trained "
            "('harness train SYSTEM --help' lists the options):"
        )
        for row in self.systems:
            yield f"  {row['system']:<{width}}  {row['summary']}"


@dataclass(frozen=True)
class Training(VerbResult):
    """A training that has ended."""

    system: str
    code: int
    """Exit code of the verb."""
    lines: Sequence[str]
    """Lines that the training has printed: its progress, and the weights."""

    def to_dict(self) -> list[Values]:
        """Return the lines."""
        return [{"line": line} for line in self.lines]

    def blocks(self) -> Iterator[str]:
        """Yield the lines."""
        yield from self.lines


class _Copied(StringIO):
    """A stream that keeps what it passes on to stdout."""

    def __init__(self) -> None:
        super().__init__()
        self._stdout = sys.stdout

    def write(self, text: str) -> int:
        self._stdout.write(text)
        return super().write(text)

    def flush(self) -> None:
        self._stdout.flush()


def train(
    system: str | None = None, *settings: str, **options: Any
) -> Trainers | Training:
    """Train a model of the harness; without a system, return those that can be trained.

    ``harness.train("clipcap", output="out", epochs=2)`` is ``harness train clipcap
    --output out --epochs 2``.

    Parameters
    ----------
    system : str, optional
        Name of the system.
    *settings : str
        Arguments without a name, such as a recipe.
    **options
        Options of ``harness train SYSTEM --help``: True for one without a value, a
        sequence for one of several values. ``reward`` trains from a checkpoint by
        rewards.

    Raises
    ------
    HarnessError
        There is no such system or option, or a setting is out of range.
    """
    if system is None:
        return Trainers(train_systems())
    parser, module = trainer_parser(system, by_reward="reward" in options)
    arguments = [*settings, *_arguments(parser, options)]
    with redirect_stdout(_Copied()) as copy:
        code = int(module.run(parser.parse_args(arguments)) or 0)
    return Training(system, code, copy.getvalue().splitlines())


def train_systems() -> list[Values]:
    """Return names and summaries of the systems that can be trained."""
    registry = current()
    return [
        {"system": registry.bare_name(entry), "summary": entry.summary}
        for entry in registry.entries("trainers")
    ]


def trainer_parser(system: str, *, by_reward: bool) -> tuple[Parser, Any]:
    """Return the parser of a system's options, and the module that trains it."""
    module: Any = entry_module("trainers", system)
    description = module.__doc__
    rewarded = getattr(module, "by_reward", None)
    if by_reward:  # another parser
        if rewarded is None:
            raise HarnessError(
                f"'{system}' is not trained by rewards; "
                f"'harness train {system} --help' lists its options"
            )
        module = rewarded
        description = f"Train {system} further by a reward, from a checkpoint."
        rewarded = None
    further = None
    if rewarded:
        further = (
            f"'harness train {system} --reward METRIC --help' lists the options of a "
            "training by rewards."
        )
    parser = Parser(
        prog=f"harness train {system}", description=description, epilog=further
    )
    module.add_arguments(parser)
    return parser, module


def _arguments(parser: Parser, options: Values) -> Iterator[str]:
    """Yield the words of options with their values."""
    actions: Iterable[Action] = parser._actions  # pyright: ignore[reportPrivateUsage]
    repeated = {action.dest for action in actions if action.nargs is None}
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is None or value is False:
            continue
        if value is True:
            yield option
        elif not isinstance(value, (list, tuple)):
            yield f"{option}={value}"
        elif name in repeated:
            yield from (f"{option}={item}" for item in value)
        else:
            yield from (option, *map(str, value))


def add_arguments(parser: ArgumentParser) -> None:
    """Add one subcommand per system."""
    systems = parser.add_subparsers(dest="system", metavar="SYSTEM")
    for row in train_systems():
        systems.add_parser(row["system"], help=row["summary"], add_help=False)


def run(args: Namespace) -> int:
    """List the systems that can be trained."""
    print_verb_result(Trainers(train_systems()), as_json=False)
    return 0


def dispatch(arguments: list[str]) -> int | None:
    """Run ``harness train SYSTEM ...`` with the arguments of the system and return its
    exit code; None without a system.
    """
    if not arguments or arguments[0].startswith("-"):
        return None
    by_reward = any(word.split("=")[0] == "--reward" for word in arguments)
    parser, module = trainer_parser(arguments[0], by_reward=by_reward)
    return int(module.run(parser.parse_args(arguments[1:])) or 0)
