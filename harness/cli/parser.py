"""The argument parser of all verbs: a mistake raises an error with the nearest name."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from harness.cli.folding import fold, terminal_width
from harness.errors import HarnessError, did_you_mean

_CHOICE = re.compile(r"argument (?P<name>.+?): invalid choice: '(?P<value>.*)' \(choose from (?P<choices>.*)\)", re.DOTALL)
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


class Parser(argparse.ArgumentParser):
    """Argument parser of ``harness VERB``. Raises :class:`HarnessError` where argparse prints its usage and exits."""

    intermixed = False
    """True for a verb whose positional arguments may stand between options; ``arguments`` of its namespace has all, in their order."""

    def __init__(self, **options: Any) -> None:  # argparse creates the parsers of subcommands through this signature
        super().__init__(**{"formatter_class": _Formatter, **options})

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse arguments; raise :class:`HarnessError` with the nearest option for an unknown one."""
        arguments = sys.argv[1:] if args is None else list(args)
        if self._subparsers is None:  # a subcommand has its own options
            self._check_options(arguments)
        if self.intermixed:
            result = super().parse_intermixed_args(arguments, namespace)
            result.arguments = arguments
            return result
        return super().parse_args(arguments, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise :class:`HarnessError` with the message of argparse, invalid choices with the nearest one."""
        match = _CHOICE.fullmatch(message)
        if match:
            choices = re.findall(r"'([^']*)'", match["choices"])
            hint = did_you_mean(match["value"], choices)
            message = f"{match['name']}: no '{match['value']}'{hint}; there are {', '.join(choices)}"
        self._raise(message)

    def _check_options(self, arguments: Sequence[str]) -> None:
        """Raise :class:`HarnessError` for the first unknown option, before argparse reports arguments that it makes missing."""
        options = self._option_string_actions
        for token in arguments:
            if token == "--":
                return
            name = token.partition("=")[0]
            if not token.startswith("-") or token == "-" or " " in name or _NUMBER.fullmatch(token):
                continue
            if not (any(option.startswith(name) for option in options) or token[:2] in options):
                self._raise(f"no option '{name}'{did_you_mean(name, _beginning_alike(name, options) or options)}")

    def _raise(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("harness").strip()
        raise HarnessError(f"{verb + ': ' if verb else ''}{message} ('{self.prog} --help' lists the options)")


def _beginning_alike(name: str, options: Iterable[str]) -> list[str]:
    """Return the options that begin with all but at most the last character of ``name``, of which at least three are letters.

    >>> _beginning_alike("--refs", ["--references", "--fresh"])
    ['--references']
    """
    beginning = name[:-1]
    return [option for option in options if len(beginning) > 4 and option.startswith(beginning)]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(110, terminal_width() or 110))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fold(super()._fill_text(text, width, indent), terminal_width())
