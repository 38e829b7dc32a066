"""Progress bars for people: on stderr in a terminal or below the cell of a notebook, only for what takes longer than a second."""

from __future__ import annotations

import html
import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


def note(text: str) -> None:
    """A line on stderr, in a terminal only; the log has it everywhere."""
    logging.getLogger(__name__).info("%s", text)
    if _is_terminal():
        print(text, file=sys.stderr)


def _is_terminal() -> bool:
    """Return True when stderr is a terminal; False where it is closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def in_notebook() -> bool:
    """Return True in the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class NotebookBar:
    """A bar below the cell of a notebook, drawn after a second and then at most four times a second."""

    def __init__(self, description: str, total: int) -> None:
        self.description, self.total = description, total
        self.done = 0
        self._started = self._drawn = time.monotonic()
        self._handle: Any = None

    def advance(self, steps: int) -> None:
        """Add steps."""
        self.done += steps
        now = time.monotonic()
        if now - self._started > 1 and (now - self._drawn > 0.25 or self.done >= self.total):
            self._drawn = now
            self._draw(now - self._started)

    def close(self) -> None:
        """Remove the bar."""
        if self._handle is not None:
            from IPython.display import HTML  # type: ignore[import-not-found]

            self._handle.update(HTML(""))

    def _draw(self, seconds: float) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        left = seconds * (self.total - self.done) / max(self.done, 1)
        content = HTML(
            f'<label>{html.escape(self.description)} <progress value="{self.done}" max="{self.total}"></progress> '
            f"{self.done:,} of {self.total:,}, {left:.0f} s left</label>"
        )
        if self._handle is None:
            self._handle = display(content, display_id=True)
        else:
            self._handle.update(content)


@contextmanager
def bar(description: str, total: int, *, show: bool = True) -> Generator[Callable[[int], None]]:
    """A bar over ``total`` steps; yields ``advance(steps)``.

    Silent when ``show`` is false, and where stderr is no terminal outside of notebooks.
    """
    if show and in_notebook():
        notebook = NotebookBar(description, total)
        try:
            yield notebook.advance
        finally:
            notebook.close()
        return
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
