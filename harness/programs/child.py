"""A running program: its three streams, read and written as they allow, and its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import HarnessError
from harness.programs.error_lines import ErrorLines
from harness.programs.protocol import END, ProgramFault, is_whole

GRACE = 3.0
"""Seconds after the end of its input in which a program may end by itself."""
MAX_LINE = 1 << 26
"""Bytes of the longest answer."""
_PIPE_BYTES = 1 << 20
_READ_BYTES = 1 << 18
_READS = 16
"""Reads of answers in a turn."""
_LAUNCHER = Path(__file__).parent / "launcher.py"


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
        self._unsent = bytearray()
        self._sent = 0
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
        self.error_lines = ErrorLines(label, self.errors)
        self._remains = _Remains(process, folder, self.error_lines, os.getpid())
        self.close = weakref.finalize(self, self._remains.end, GRACE)

    @property
    def has_unsent(self) -> bool:
        """True while text waits to be written."""
        return self.accepts_input and self._sent < len(self._unsent)

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
        has_lines = False
        # A program that writes faster than this process reads must not keep it here.
        for _ in range(_READS):
            try:
                data = os.read(self.output, _READ_BYTES)
            except BlockingIOError:
                break
            self.ended = not data
            self._answers += data
            has_lines = has_lines or b"\n" in data
            if len(data) < _READ_BYTES:
                break

        lines: list[bytes] = []
        if has_lines:
            # A long line arrives in many pieces: it is not looked through each time.
            *lines, left = bytes(self._answers).split(b"\n")
            self._answers = bytearray(left)
        if len(self._answers) > MAX_LINE:
            raise ProgramFault(
                f"{self.label}: the program's line of {len(self._answers):,} bytes has "
                f"no end; an answer has at most {MAX_LINE:,}"
            )
        if self.ended and self._answers:
            # An answer that the end of the program has cut off is asked again.
            if is_whole(self._answers):
                lines.append(bytes(self._answers))
            self._answers.clear()
        return [line for line in lines if line.strip()]

    def end_input(self) -> None:
        """Send the last message and close the input, without waiting for the end."""
        self._remains.end_input()

    def kill(self) -> None:
        """End the process and its group at once."""
        if self.close.detach() is not None:
            self._remains.end(0.0)

    def describe_end(self) -> str:
        """Return how the process ended and what it said last, after waiting a moment
        for both.
        """
        deadline = time.monotonic() + 1.0
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self.error_lines.read_rest()
        code = self.process.poll()
        how = f"exit code {code}"
        if code is None:
            how = "its output is closed"
        elif code < 0:
            with contextlib.suppress(ValueError):
                how = f"ended by {signal.Signals(-code).name}"
        said = self.error_lines.last_words()
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


class _Remains:
    """Process and folder of a program, which are left where nobody holds it any more.

    Parameters
    ----------
    process : subprocess.Popen
        The process.
    folder : TemporaryDirectory
        Its working folder.
    error_lines : ErrorLines
        Its standard error.
    owner : int
        Process that started it.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        folder: tempfile.TemporaryDirectory[str],
        error_lines: ErrorLines,
        owner: int,
    ) -> None:
        self._process = process
        self._folder = folder
        self._error_lines = error_lines
        self._owner = owner

    def end(self, grace: float) -> None:
        """End the program: its last message and the end of its input, after a grace the
        signals TERM and KILL to its group.

        Nothing is done in a process that was forked from its owner.
        """
        if os.getpid() != self._owner:
            return
        process = self._process
        if grace:
            self.end_input()
            self._wait(grace)
        for number, seconds in (
            (signal.SIGTERM, 0.5 if grace else 0),
            (signal.SIGKILL, 5),
        ):
            # Also where the program itself has ended: it may have left processes.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)

        with contextlib.suppress(OSError, ValueError):
            self._error_lines.read_rest()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        with contextlib.suppress(OSError):
            self._folder.cleanup()

    def end_input(self) -> None:
        """Send the last message and close the input; nothing happens where it is
        closed.
        """
        stream = self._process.stdin
        if stream is not None:
            # A program that has closed its input, or does not read it.
            with contextlib.suppress(OSError, ValueError):
                os.write(stream.fileno(), END)
            with contextlib.suppress(OSError):
                stream.close()

    def _wait(self, seconds: float) -> None:
        """Wait until the program ends, for some seconds; discard what it still answers,
        and log what it writes to standard error.
        """
        process = self._process
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while process.poll() is None and time.monotonic() < deadline:
            if process.stdout is not None:
                with contextlib.suppress(OSError, ValueError):
                    os.read(process.stdout.fileno(), _READ_BYTES)
            with contextlib.suppress(OSError, ValueError):
                self._error_lines.read()
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
