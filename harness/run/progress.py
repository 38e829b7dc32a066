"""Progress of long work: a bar in a terminal or below the cell of a notebook, a line
every 30 seconds elsewhere.

Nothing appears for work that takes less than a second. Texts go to stderr.
"""

from __future__ import annotations

import html
import logging
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from harness.errors import escape_controls
from harness.files.memory import require_memory
from harness.run.live_results import current_results

FIRST_SECONDS = 1.0
"""Time after which a bar appears."""
RESULT_SECONDS = 0.3
"""The same for a bar below results."""
LINE_SECONDS = 30.0
"""Time between two lines where there is no terminal."""
Advance = Callable[[int], None]


def note(text: str) -> None:
    """Print a line on stderr, in a terminal only; the log has it everywhere."""
    logging.getLogger(__name__).info("%s", text)
    if _is_terminal():
        print(escape_controls(text), file=sys.stderr)


def _is_terminal() -> bool:
    """Return True when stderr is a terminal; False where it is closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def in_notebook() -> bool:
    """Return True in the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(0.44), duration(21.4), duration(200), duration(3725)
    ('0.4 s', '21 s', '3 min 20 s', '1 h 02 min')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


class Stages:
    """Stages of a run, numbered in their order.

    >>> stage = Stages(["captions: a", "scores"])
    >>> stage("captions: a"), stage("scores"), stage("corpus statistics")
    ('[1/2] captions: a', '[2/2] scores', 'corpus statistics')
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._next = 0

    def __call__(self, name: str) -> str:
        """Return the name with its number; a name that is not among the stages as it
        is.
        """
        if name not in self.names[self._next :]:
            return name
        self._next = self.names.index(name, self._next) + 1
        return f"[{self._next}/{len(self.names)}] {name}"


class Meter:
    """Work of a known number of steps, or of an unknown one (0),
    and the time that it takes.

    Parameters
    ----------
    description : str
        Name of the work.
    total : int
        Number of steps; 0: unknown.
    unit : str
        Name of the steps, in the plural.
    status : callable
        Returns a text that follows the figures, such as estimates of scores; empty for
        none.
    """

    def __init__(
        self, description: str, total: int, unit: str, status: Callable[[], str]
    ) -> None:
        self.description = description
        self.total = total
        self.unit = unit
        self.status = status
        self.done = 0
        self.started = time.monotonic()

    def advance(self, steps: int) -> None:
        """Add steps."""
        self.done += steps

    def close(self) -> None:
        """End the work."""

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float | None:
        """Estimate of the time until the end; None where it is not known."""
        if not self.total or not self.done:
            return None
        return self.seconds * (self.total - self.done) / self.done

    def figures(self) -> str:
        """Return the number of steps, the rate and the time left."""
        rate = self.done / max(self.seconds, 1e-9)
        rate_text = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        total = f" of {self.total:,}" if self.total else ""
        text = f"{self.done:,}{total} {self.unit}, {rate_text}/s"
        left = self.left
        if left is None or self.done >= self.total:
            return text
        return f"{text}, {duration(left)} left"

    def line(self) -> str:
        """Return the figures and the status."""
        return "; ".join(text for text in (self.figures(), self.status()) if text)


WORK: list[Meter] = []
"""Work of this process that goes on, the innermost last."""


class Lines(Meter):
    """A line every 30 seconds, also while no step ends;
    a last line where there was one before.
    """

    def __init__(
        self, description: str, total: int, unit: str, status: Callable[[], str]
    ) -> None:
        super().__init__(description, total, unit, status)
        self._printed = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        require_memory()
        self._thread.start()

    def _run(self) -> None:
        while not self._end.wait(LINE_SECONDS):
            self._printed = True
            self._print(self.line())

    def close(self) -> None:
        """End the lines."""
        self._end.set()
        self._thread.join()
        if self._printed:
            self._print(f"{self.done:,} {self.unit} in {duration(self.seconds)}")

    def _print(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a reader that left, a closed stream
            print(f"{self.description}: {text}", file=sys.stderr, flush=True)


class NotebookBar(Meter):
    """A bar below the cell of a notebook, drawn at most four times a second."""

    def __init__(
        self, description: str, total: int, unit: str, status: Callable[[], str]
    ) -> None:
        super().__init__(description, total, unit, status)
        self._drawn = self.started
        self._handle: Any = None

    def advance(self, steps: int) -> None:
        """Add steps and draw the bar."""
        super().advance(steps)
        now = time.monotonic()
        if now - self.started > FIRST_SECONDS and (
            now - self._drawn > 0.25 or self.done == self.total
        ):
            self._drawn = now
            self._draw()

    def close(self) -> None:
        """Remove the bar."""
        if self._handle is not None:
            from IPython.display import HTML  # type: ignore[import-not-found]

            self._handle.update(HTML(""))

    def _draw(self) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        value = f'value="{self.done}" max="{self.total}"' if self.total else ""
        content = HTML(
            f"<label>{html.escape(self.description)} <progress {value}></progress> "
            f"{html.escape(self.line())}</label>"
        )
        if self._handle is None:
            self._handle = display(content, display_id=True)
        else:
            self._handle.update(content)


class TerminalBar(Meter):
    """A bar in a terminal below the results so far, else with the status on a line of
    its own; all disappear at the end.
    """

    def __init__(
        self, description: str, total: int, unit: str, status: Callable[[], str]
    ) -> None:
        super().__init__(description, total, unit, status)
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn

        self._results = current_results()
        self._starting = threading.Lock()
        self._closed = False
        self._timer: threading.Timer | None = None

        # without the escapes of harness.cli.process
        terminal = getattr(sys.stderr, "terminal", None)
        names = TextColumn("{task.description}", markup=False)
        figures = TextColumn("{task.fields[figures]}", markup=False)
        self._progress = Progress(names, BarColumn(20), figures, auto_refresh=False)
        self._task = self._progress.add_task(
            escape_controls(description), total=total or None, figures=""
        )
        self._live = Live(
            get_renderable=self._lines,
            console=Console(file=terminal, stderr=True),
            transient=True,
        )

        if self._results is not None:  # they are shown also while no step ends
            require_memory()
            delay = 0.0 if self._results.seen else RESULT_SECONDS
            self._timer = threading.Timer(delay, self._start)
            self._timer.daemon = True
            self._timer.start()

    def _start(self) -> None:
        with self._starting:
            if not self._closed and not self._live.is_started:
                self._live.start()
                if self._results is not None:
                    self._results.seen = True

    def advance(self, steps: int) -> None:
        """Add steps and draw the bar."""
        super().advance(steps)
        if not self._live.is_started and self.seconds > FIRST_SECONDS:
            self._start()

    def close(self) -> None:
        """Remove the bar."""
        with self._starting:
            self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._live.is_started:
            self._live.stop()

    def _lines(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        self._progress.update(self._task, completed=self.done, figures=self.figures())
        results = self._results.rendered() if self._results is not None else None
        if results is not None:
            return Group(results, self._progress)
        status = self.status()
        if not status:
            return self._progress
        return Group(self._progress, Text(escape_controls(f"  {status}")))


@contextmanager
def bar(
    description: str,
    total: int = 0,
    *,
    show: bool = True,
    unit: str = "examples",
    status: Callable[[], str] = lambda: "",
) -> Generator[Advance]:
    """Show the progress of the work in the context; yield ``advance(steps)``.

    Silent when ``show`` is false.

    Parameters
    ----------
    description : str
        Name of the work.
    total : int
        Number of steps; 0: unknown.
    show : bool
        False: show nothing; :data:`WORK` has it all the same.
    unit : str
        Name of the steps, in the plural.
    status : callable
        Returns a text that follows the figures; it may be called by another thread.
    """
    kind: type[Meter] = Lines
    if not show:
        kind = Meter
    elif in_notebook():
        kind = NotebookBar
    elif _is_terminal():
        kind = TerminalBar
    meter = kind(description, total, unit, status)

    WORK.append(meter)
    try:
        yield meter.advance
    finally:
        WORK.remove(meter)
        meter.close()
