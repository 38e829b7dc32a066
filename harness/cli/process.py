"""The process around a verb: standard streams, SIGTERM, and the record of a bug."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import select
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Generator, Iterable
from types import FrameType
from typing import Any, TextIO

from harness.errors import BUG_LOG, escape_controls

AGAIN = 0.05
"""Seconds after which a signal that could not end the verb is sent again."""
BLAS_SPIN = "18"
"""Idle threads of OpenBLAS look for work for 2**18 ticks of the processor's clock, a
tenth of a millisecond, before they sleep.
"""
_MOVES_UP = re.compile(r"(\x1b\[A)+")


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a verb as Ctrl-C does."""


@contextlib.contextmanager
def terminable() -> Generator[None]:
    """Context in which SIGTERM raises :class:`Terminated` and Ctrl-C KeyboardInterrupt,
    where the process has no handlers of its own.

    Python discards the exception in finalisers and callbacks. A signal that arrives
    there reaches the process again a moment later.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    errors: dict[int, type[BaseException]] = {signal.SIGTERM: Terminated}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        errors[signal.SIGINT] = KeyboardInterrupt

    def handle(number: int, frame: FrameType | None) -> None:
        raise errors[number]

    before = {number: signal.signal(number, handle) for number in errors}
    try:
        with _resent_signals():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _resent_signals() -> Generator[None]:
    """Context that sends a signal again after a moment where Python discards its
    exception.
    """
    hook = sys.unraisablehook
    timers: list[threading.Timer] = []

    def resend(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            hook(unraisable)
            return
        is_terminated = issubclass(unraisable.exc_type, Terminated)
        number = signal.SIGTERM if is_terminated else signal.SIGINT
        timers.append(threading.Timer(AGAIN, os.kill, (os.getpid(), number)))
        timers[-1].daemon = True
        timers[-1].start()

    sys.unraisablehook = resend
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for timer in timers:
            timer.cancel()


class _Lines(logging.Handler):
    """Prints messages on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message."""
        with contextlib.suppress(OSError, ValueError):
            print(escape_controls(record.getMessage()), file=sys.stderr, flush=True)


@contextlib.contextmanager
def first_use_lines() -> Generator[None]:
    """Context in which work that is done once (:mod:`harness.files.announcements`) is
    announced on stderr.
    """
    log = logging.getLogger("harness.first_use")
    handler = _Lines(logging.INFO)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def rest_idle_threads() -> None:
    """Let idle threads of OpenBLAS sleep after a tenth of a millisecond, unless the
    environment or a loaded numpy has another time.

    By default they look for work for 2**26 ticks after each call and after their start:
    a fifth of the CPU time of a short command.
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", BLAS_SPIN)


def silence_libraries() -> None:
    """Leave out what libraries say to programmers, unless the environment asks for it.

    These are the progress bars of Hugging Face's libraries, such as "Loading weights",
    and warnings of changes in their next versions.
    """
    for name in ("HF_HUB_DISABLE_PROGRESS_BARS", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        os.environ.setdefault(name, "1")
    if not sys.warnoptions:  # of -W and PYTHONWARNINGS
        warnings.simplefilter("ignore", FutureWarning)


def open_streams() -> None:
    """Make stdout and stderr usable: a closed one discards its text, and no character
    is refused by their encodings.
    """
    # The next file that is opened would become descriptor 1 or 2, and receive what
    # libraries print.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            while os.open(os.devnull, os.O_RDWR) < number:
                pass

    # lives as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        refusing = ("strict", "surrogateescape")  # the latter in the locale POSIX
        if isinstance(stream, io.TextIOWrapper) and stream.errors in refusing:
            stream.reconfigure(errors="backslashreplace")
        if stream.isatty() and not isinstance(stream, TerminalStream):
            setattr(sys, name, TerminalStream(stream))


class TerminalStream:
    """A terminal to which control characters in texts are written as escapes, by
    whatever code prints them.

    Labels, ids and captions are somebody else's: their escape sequences could rewrite
    what the terminal shows, or its title and clipboard. Rich, which writes sequences of
    its own, has the stream itself (``terminal``) and texts that are escaped before.
    """

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal

    def write(self, text: str) -> int:
        """Write a text; what redraws a bar of tqdm,
        a return at its start or a move up alone, is left as it is.
        """
        length = len(text)
        if not _MOVES_UP.fullmatch(text):
            start = "\r" if text.startswith("\r") else ""
            text = start + escape_controls(text.removeprefix("\r"))
        self.terminal.write(text)
        return length

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)


def reader_left() -> bool:
    """Return True when stdout is a pipe that nobody reads any more
    (``harness ... | head``).
    """
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLERR)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):  # stdout is no file, or closed
        return False


def discard_output() -> None:
    """Discard the text that stdout still holds, which the interpreter would otherwise
    fail to write when it ends.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def record_bug(error: BaseException) -> str:
    """Return the path of the log that has the traceback of ``error``: that of its run,
    or a new file in the temporary folder.
    """
    from harness.files.secrets import redact

    log = getattr(error, BUG_LOG, None)
    if log is not None:
        return str(log)
    with tempfile.NamedTemporaryFile(
        "w", prefix="harness-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        text = redact("".join(traceback.format_exception(error)))
        file.write(text.encode("utf-8", "backslashreplace").decode("utf-8"))
    return file.name
