"""Lines that components write for the log of the run directory, such as the standard
error of a program.

A component records a line without knowing the directory; the run that computes keeps it
(:func:`keep_lines`). A worker process, which has no directory, sends its lines with the
scores of a shard (:func:`collect_lines`), and the run records them again. Lines
recorded outside of a run are kept nowhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import NamedTuple

MAX_LINES = 1000
"""Lines that a run keeps."""
MAX_LENGTH = 500
"""Characters of a kept line."""
_log = logging.getLogger("harness.component_lines")


class ComponentLine(NamedTuple):
    """A line of a component."""

    label: str
    """Kind and name: ``metric 'mine'``."""
    text: str


def record_line(label: str, text: str) -> None:
    """Record a line of the component ``label``, such as ``metric 'mine'``."""
    # Without a run the logger has no handler, and its parents have none of these lines.
    if _log.handlers:
        _log.info(text, extra={"component": label})


@contextmanager
def keep_lines(write: Callable[[str, str], None]) -> Generator[None]:
    """Context in which ``write(label, text)`` gets the recorded lines: the first
    :data:`MAX_LINES`, cut to :data:`MAX_LENGTH` characters, and a last one that says
    that there are more.
    """
    handler = _Keeper(write)
    _log.propagate = False
    _log.setLevel(logging.INFO)
    _log.addHandler(handler)
    try:
        yield
    finally:
        _log.removeHandler(handler)
        _log.propagate = not _log.handlers


@contextmanager
def collect_lines() -> Generator[list[ComponentLine]]:
    """Context whose value gets the recorded lines, for another process that records
    them again (:func:`record_again`).
    """
    lines: list[ComponentLine] = []
    with keep_lines(lambda label, text: lines.append(ComponentLine(label, text))):
        yield lines


def record_again(lines: Iterable[ComponentLine]) -> None:
    """Record the lines that another process has collected."""
    for line in lines:
        record_line(line.label, line.text)


class _Keeper(logging.Handler):
    """Passes on as many lines as are kept."""

    def __init__(self, write: Callable[[str, str], None]) -> None:
        super().__init__(logging.INFO)
        self._write = write
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a line on."""
        self._count += 1
        label = str(getattr(record, "component", ""))
        if self._count <= MAX_LINES:
            text = str(record.msg)
            cut = len(text) > MAX_LENGTH
            self._write(label, f"{text[:MAX_LENGTH]} ..." if cut else text)
        elif self._count == MAX_LINES + 1:
            self._write(label, f"more than {MAX_LINES:,} lines; these are the first")
