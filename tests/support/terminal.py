"""The command line in a pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

COLUMNS = 200
"""Width of the terminal."""
SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Colours, and what redraws a bar."""
_EACH = """import json, sys
from harness.cli.main import main
for arguments in json.loads(sys.argv[1]):
    print("\\n=== verb", flush=True)
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code or 0
    print(f"\\n=== code {code}", flush=True)
"""


def run_in_terminal(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Return the exit code of ``harness ARGUMENTS`` and all bytes that its terminal
    receives, from stdout and stderr.
    """
    return _in_terminal(["-m", "harness", *arguments], folder, COLUMNS, environment)


def verbs_in_terminal(
    verbs: Sequence[Sequence[str]], folder: Path, columns: int
) -> list[tuple[int, list[str]]]:
    """Return exit code and lines, without colours, of verbs that one process runs in a
    terminal of so many columns.
    """
    _, received = _in_terminal(["-c", _EACH, json.dumps(verbs)], folder, columns, {})
    outputs = SEQUENCES.sub("", received.decode("utf-8")).split("=== verb")[1:]
    assert len(outputs) == len(verbs), outputs[-1:]
    parts = [output.rsplit("=== code ", 1) for output in outputs]
    return [
        (
            int(code.split()[0]),
            [line for line in re.split(r"[\r\n]+", text) if line.strip()],
        )
        for text, code in parts
    ]


def _in_terminal(
    arguments: Sequence[str],
    folder: Path,
    columns: int,
    environment: Mapping[str, str] | None,
) -> tuple[int, bytes]:
    terminal, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    # the terminal's size counts
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "LINES")
    }

    variables = {
        **inherited,
        "TERM": "xterm-256color",
        "PYTHONIOENCODING": "utf-8",
        **(environment or {}),
    }

    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdin=child,
        stdout=child,
        stderr=child,
        env=variables,
    ) as process:
        os.close(child)
        received = bytearray()
        # EIO: the last process has closed the terminal
        with contextlib.suppress(OSError):
            while data := os.read(terminal, 65536):
                received += data

    os.close(terminal)
    return process.returncode, bytes(received)
