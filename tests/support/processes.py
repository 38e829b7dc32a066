"""Processes that a test has started."""

from __future__ import annotations

import os
import subprocess


def running(text: str, *, descendants: bool = False) -> list[int]:
    """Return the process ids of the children of this process whose command line has a
    text; with ``descendants`` those of any process, also of nobody's.
    """
    lines = subprocess.run(
        ["ps", "-ewwo", "pid,ppid,stat,args"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[1:]
    found: list[int] = []
    for line in lines:
        pid, parent, state, command = line.split(None, 3)
        is_own = descendants or int(parent) == os.getpid()
        if text in command and is_own and not state.startswith("Z"):
            found.append(int(pid))
    return found
