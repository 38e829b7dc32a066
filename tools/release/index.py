"""Steps that need a package index, told apart from steps that fail.

A step whose installation cannot reach an index has tried nothing. It is neither passed
nor a failure: it has a line of its own, and ``make release-check`` ends with another
exit status.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

UNREACHED = re.compile(
    r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|NameResolutionError"
    r"|Temporary failure in name resolution|Network is unreachable"
    r"|[Dd]ns error|tcp connect error|Could not connect"
)
"""What pip, uv and ``python -m build`` print where an index cannot be reached."""
STATUS = 3
"""Exit status where nothing fails and a step was not tried."""


class NoIndex(SystemExit):
    """A step needs a package index, and none can be reached."""


class NotTried(str):
    """The line of a step that was not tried."""

    __slots__ = ()


def failure(command: Sequence[object], output: str) -> SystemExit:
    """Return the error of a command that failed: :class:`NoIndex` in one line where its
    output says that no index was reached, else one with the end of the output.

    >>> failure(["pip", "install", "x"], "... NewConnectionError ...").code
    'pip install x: no package index can be reached'
    >>> failure(["pip", "install", "x"], "no such version").code
    'pip install x ... failed:\\nno such version'
    """
    words = " ".join(map(str, command[:6]))
    if UNREACHED.search(output):
        return NoIndex(f"{words}: no package index can be reached")
    return SystemExit(f"{words} ... failed:\n{output[-5000:]}")


def line_of(name: str, error: SystemExit) -> str:
    """Return the line of a step that ended with an error."""
    text = f"{name}: {error.code}"
    return NotTried(text) if isinstance(error, NoIndex) else text


def print_problems(lines: Sequence[str]) -> int:
    """Print the lines of steps that failed or were not tried; return the exit status:
    1 where one failed, else 3 where one was not tried, else 0.
    """
    for line in lines:
        print(f"{'NOT TRIED' if isinstance(line, NotTried) else 'PROBLEM'}: {line}")
    if any(not isinstance(line, NotTried) for line in lines):
        return 1
    return STATUS if lines else 0


def run_step(name: str, step: Callable[[], int]) -> int:
    """Return the exit status of a step; 3, after one line, where it ends because no
    index can be reached.
    """
    try:
        return step()
    except NoIndex as error:
        return print_problems([line_of(name, error)])
