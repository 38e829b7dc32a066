"""User mistakes, told in one line: what was found, where, what was expected, and the nearest name.

The command line prints a :class:`HarnessError` without a traceback and exits with code 2; anything
else is a bug of ours and shows its traceback.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class HarnessError(Exception):
    """A mistake in what the user gave: spec, file, name, or a missing piece of the installation."""


class InputError(HarnessError):
    """A file or record that is not what it should be. ``where`` is ``file``, ``file:line`` or ``file: record 3``."""

    def __init__(self, message: str, where: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)


class UnknownName(HarnessError):
    """A name that the registry or a schema does not hold; says the nearest one."""


class MissingExtra(HarnessError):
    """An optional dependency is not installed; says who needs it and what to install."""


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the option nearest to ``name``, or an empty string.

    >>> did_you_mean("metoer", ["meteor", "cider"])
    "; did you mean 'meteor'?"
    """
    near = difflib.get_close_matches(str(name), [str(option) for option in options], n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def require(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """Import ``module`` or raise :class:`MissingExtra` naming who needs it and the extra that brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name.split(".")[0]):
            raise
        raise MissingExtra(
            f"{needed_by} needs the package '{module.split('.')[0]}', which is not installed: "
            f"pip install 'caption-harness[{extra}]'"
        ) from error
