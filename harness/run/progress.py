"""Progress bars for people: on stderr, only in a terminal, only for what takes longer than a second."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


def note(text: str) -> None:
    """A line on stderr, in a terminal only; the log has it everywhere."""
    logging.getLogger(__name__).info("%s", text)
    if _is_terminal():
        print(text, file=sys.stderr)


def _is_terminal() -> bool:
    """Return True when stderr is a terminal; False where it is closed."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def bar(description: str, total: int, *, show: bool = True) -> Generator[Callable[[int], None]]:
    """A bar over ``total`` steps; yields ``advance(steps)``. Silent when ``show`` is false or stderr is no terminal."""
    if not show or not _is_terminal():
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task(description, total=total)
    started, live = time.monotonic(), False

    def advance(steps: int) -> None:
        nonlocal live
        progress.advance(task, steps)
        if not live and time.monotonic() - started > 1:
            progress.start()
            live = True

    try:
        yield advance
    finally:
        if live:
            progress.stop()
