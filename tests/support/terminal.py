"""The command line in a pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

COLUMNS = 200
"""Width of the terminal."""


def run_in_terminal(arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """Return the exit code of ``harness ARGUMENTS`` and all bytes that its terminal receives, from stdout and stderr."""
    terminal, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "PYTHONIOENCODING": "utf-8", **(environment or {})}
    command = [sys.executable, "-m", "harness", *arguments]
    with subprocess.Popen(command, cwd=folder, stdin=child, stdout=child, stderr=child, env=variables) as process:
        os.close(child)
        received = bytearray()
        with contextlib.suppress(OSError):  # EIO: the last process has closed the terminal
            while data := os.read(terminal, 65536):
                received += data
    os.close(terminal)
    return process.returncode, bytes(received)
