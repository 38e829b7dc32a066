"""A running program: its three streams, read and written as they allow, and its end."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import HarnessError
from harness.files.component_lines import record_line
from harness.programs.protocol import END, ProgramFault

GRACE = 3.0
"""Seconds after the end of its input in which a program may end by itself."""
MAX_LINE = 1 << 26
"""Bytes of the longest answer."""
_PIPE_BYTES = 1 << 20
_READ_BYTES = 1 << 18
_LAUNCHER = Path(__file__).parent / "launcher.py"
_log = logging.getLogger("harness.programs")


class Child:
    """A process of a program; no method waits.

    Parameters
    ----------
    label : str
        Kind and name for messages.
    command : sequence of str
        Command line with the absolute path of the program.
    variables : mapping
        Its environment.
    memory : int
        Largest size of its address space in bytes; 0: no limit.
    """

    def __init__(
        self,
        label: str,
        command: Sequence[str],
        variables: Mapping[str, str],
        memory: int,
    ) -> None:
        self.label = label
        self._memory = memory
        self._answers = bytearray()
        self._errors = bytearray()
        self._unsent = bytearray()
        self._sent = 0
        self._last_words: deque[str] = deque(maxlen=20)
        self.accepts_input = True
        self.ended = False
        folder = tempfile.TemporaryDirectory(prefix="harness-program-")
        try:
            process = subprocess.Popen(
                [*launcher_command(memory), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder.name,
                env=dict(variables),
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            folder.cleanup()
            raise HarnessError(f"{label}: cannot be started: {error}") from error
        self.process = process
        self.input, self.output, self.errors = (
            stream.fileno()
            for stream in (process.stdin, process.stdout, process.stderr)
            if stream is not None
        )
        for descriptor in (self.input, self.output, self.errors):
            os.set_blocking(descriptor, False)
            # Large pipes save turns; not every system has them.
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._folder = folder
        self.close = weakref.finalize(self, _end, process, folder, GRACE, os.getpid())

    @property
    def has_unsent(self) -> bool:
        """True while text waits to be written."""
        return self.accepts_input and self._sent < len(self._unsent)

    @property
    def unsent_bytes(self) -> int:
        """Number of bytes that wait to be written."""
        return len(self._unsent) - self._sent

    def send(self, data: bytes) -> None:
        """Add text to what is to be written."""
        del self._unsent[: self._sent]
        self._sent = 0
        self._unsent += data

    def write(self) -> None:
        """Write what the program takes now."""
        with memoryview(self._unsent) as view:
            try:
                self._sent += os.write(self.input, view[self._sent :][:_PIPE_BYTES])
            except BlockingIOError:
                return
            except OSError:
                # It has closed its input; its answers and its end tell more.
                self.accepts_input = False

    def read(self) -> list[bytes]:
        """Return the lines of answers that are there; sets :attr:`ended` at the end of
        the output.
        """
        while True:
            try:
                data = os.read(self.output, _READ_BYTES)
            except BlockingIOError:
                break
            if not data:
                self.ended = True
                break
            self._answers += data
            if len(data) < _READ_BYTES:
                break
        *lines, left = bytes(self._answers).split(b"\n")
        self._answers = bytearray(left)
        if len(left) > MAX_LINE:
            raise ProgramFault(
                f"{self.label}: the program's line of {len(left):,} bytes has no end; "
                f"an answer has at most {MAX_LINE:,}"
            )
        # What is left at the end was cut off, unless it lacks the line feed alone.
        if self.ended and left:
            lines.append(left)
            self._answers.clear()
        return [line for line in lines if line.strip()]

    def read_errors(self) -> bool | None:
        """Log the lines of standard error that are there; return False at its end, and
        None where there is nothing yet.
        """
        try:
            data = os.read(self.errors, _READ_BYTES)
        except BlockingIOError:
            return None
        self._errors += data
        *lines, left = bytes(self._errors).split(b"\n")
        # A line without end, such as a bar of progress, must not fill the memory.
        self._errors = bytearray(left[-10_000:])
        for line in lines if data else [*lines, left]:
            text = line.decode("utf-8", "replace").rpartition("\r")[2].strip()
            if text:
                self._last_words.append(text)
                _log.info("%s: %s", self.label, text)
                record_line(self.label, text)
        return bool(data)

    def kill(self) -> None:
        """End the process and its group at once."""
        if self.close.detach() is not None:
            _end(self.process, self._folder, 0.0, os.getpid())

    def describe_end(self) -> str:
        """Return how the process ended and what it said last, after waiting a moment
        for both.
        """
        deadline = time.monotonic() + 1.0
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        while self.read_errors():
            pass
        code = self.process.poll()
        how = f"exit code {code}"
        if code is None:
            how = "its output is closed"
        elif code < 0:
            with contextlib.suppress(ValueError):
                how = f"ended by {signal.Signals(-code).name}"
        lines = [line for line in self._last_words if "Error" in line]
        said = (lines or [*self._last_words] or ["nothing on standard error"])[-1]
        # A program that cannot have memory says so in many ways, or not at all.
        limit = f"; it may use {self._memory / 1e9:g} GB (limits: memory_gb)"
        return f"{how}: {said[-300:]}{limit if self._memory and code else ''}"


def launcher_command(memory: int = 0) -> list[str]:
    """Return the words before the absolute path of a program that end it with this
    process and limit its memory to so many bytes; 0: no limit.
    """
    # The bond is one to the starting thread, which may end before the run.
    is_main = threading.current_thread() is threading.main_thread()
    parent = os.getpid() if is_main else 0
    return [sys.executable, "-I", "-S", str(_LAUNCHER), str(parent), str(memory)]


def _end(
    process: subprocess.Popen[bytes],
    folder: tempfile.TemporaryDirectory[str],
    grace: float,
    owner: int,
) -> None:
    """End a program: its last message and the end of its input, after a grace the
    signals TERM and KILL to its group.

    Nothing is done in a process that was forked from its ``owner``.
    """
    if os.getpid() != owner:
        return
    streams = [process.stdin, process.stdout, process.stderr]
    if process.stdin is not None:
        with contextlib.suppress(OSError, ValueError):
            if grace:
                os.write(process.stdin.fileno(), END)
            process.stdin.close()
    if grace:
        _drain(process, grace)
    for number, seconds in ((signal.SIGTERM, 0.5 if grace else 0), (signal.SIGKILL, 5)):
        # Also where the program itself has ended: it may have left processes.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    for stream in streams:
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.close()
    with contextlib.suppress(OSError):
        folder.cleanup()


def _drain(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Discard what a program still writes until it ends, for some seconds."""
    deadline = time.monotonic() + seconds
    pause = 0.0005
    while process.poll() is None and time.monotonic() < deadline:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    os.read(stream.fileno(), _READ_BYTES)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
