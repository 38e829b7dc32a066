"""The engine's wheel as people start a tool without installing it:
``uvx caption-harness`` and ``pipx run caption-harness``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tools.release.index import failure, line_of

ARGUMENTS = ("run", "coco", "--limit", "20", "--output", "run")


def commands(wheel: Path) -> dict[str, list[str]]:
    """Return program -> command of the wheel, with the other distributions beside it;
    those of programs that are on this machine.

    A published version is ``uvx caption-harness`` and ``pipx run caption-harness``: the
    name of the distribution is that of a program.
    """
    found = {
        "uvx": [
            sys.executable,
            "-m",
            "uv",
            "tool",
            "run",
            "--find-links",
            str(wheel.parent),
            "--from",
            str(wheel),
            "caption-harness",
        ]
    }
    if pipx := shutil.which("pipx"):
        # Its environments have no pip of their own settings: the folder goes by the
        # variable that pip reads.
        found["pipx"] = [
            pipx,
            "run",
            "--no-cache",
            "--spec",
            str(wheel),
            "caption-harness",
        ]
    return found


def try_tools(wheel: Path, arguments: Sequence[str] = ARGUMENTS) -> list[str]:
    """Run the sample by each program in new folders of caches, print the times, and
    return a line for each that fails.
    """
    problems: list[str] = []
    for name, command in commands(wheel).items():
        with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
            places = {
                key: str(Path(folder, key.lower()))
                for key in ("UV_TOOL_DIR", "UV_CACHE_DIR", "PIPX_HOME", "HARNESS_CACHE")
            }

            start = time.perf_counter()
            result = subprocess.run(
                [*command, *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, **places, "PIP_FIND_LINKS": str(wheel.parent)},
            )

            print(
                f"{name} caption-harness {' '.join(arguments[:2])}: "
                f"{time.perf_counter() - start:.0f} s with its installation"
            )
            if result.returncode:
                problems.append(
                    line_of(name, failure(["caption-harness"], result.stderr))
                )

    if "pipx" not in commands(wheel):
        print("pipx: not on this machine, not tried")
    return problems
