"""The argument parser of all verbs: a mistake is one line with the nearest name, told as every other mistake is."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from harness.errors import HarnessError, did_you_mean

_CHOICE = re.compile(
    r"argument (?P<name>.+?): invalid choice: '(?P<given>.*)' \(choose from (?P<choices>.*)\)", re.DOTALL
)
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


class Parser(argparse.ArgumentParser):
    """``harness VERB``'s parser. Raises :class:`HarnessError` where argparse would print its usage and leave."""

    def __init__(self, **options: Any) -> None:  # argparse makes the parsers below a parser by this signature
        super().__init__(**{"formatter_class": _Formatter, **options})

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        given = sys.argv[1:] if args is None else list(args)
        if self._subparsers is None:  # a verb below has options of its own
            self._check_options(given)
        return super().parse_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        match = _CHOICE.fullmatch(message)
        if match:
            choices = re.findall(r"'([^']*)'", match["choices"])
            message = f"{match['name']}: no '{match['given']}'{did_you_mean(match['given'], choices)}; there are {', '.join(choices)}"
        self._tell(message)

    def _check_options(self, given: Sequence[str]) -> None:
        """Tell the first option that there is not, before argparse tells what is missing because of it."""
        known = self._option_string_actions
        for token in given:
            if token == "--":
                return
            name = token.partition("=")[0]
            if not token.startswith("-") or token == "-" or " " in name or _NUMBER.fullmatch(token):
                continue
            if not (any(option.startswith(name) for option in known) or token[:2] in known):
                self._tell(f"no option '{name}'{did_you_mean(name, known)}")

    def _tell(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("harness").strip()
        raise HarnessError(f"{verb + ': ' if verb else ''}{message} ('{self.prog} --help' tells more)")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=110)
