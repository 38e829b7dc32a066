"""A chat server whose answers are counted, with one that never comes, and a process
that is killed while it asks.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.chat_server import Server

DEADLINE = 120.0
"""Seconds after which a test gives up."""


class Meter:
    """Counts the answers of a server; a prompt that contains ``slow`` has none until
    :attr:`released` is set.
    """

    def __init__(
        self,
        server: Server,
        answer: Callable[[dict[str, Any]], dict[str, Any]],
        slow: str,
    ) -> None:
        self.answered = 0
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._answer = answer
        self._slow = slow
        server.answer = self.answer

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._slow in body["messages"][-1]["content"]:
            self.released.wait(DEADLINE)
        with self._lock:
            self.answered += 1
        return self._answer(body)


def kill_when(
    command: Sequence[str], environment: dict[str, str], ready: Callable[[], bool]
) -> None:
    """Start a command and kill it with SIGKILL as soon as ``ready`` is true."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + DEADLINE
        while not ready():
            assert process.poll() is None, (
                f"the command ended with {process.returncode}"
            )
            assert time.monotonic() < deadline, "the command did not get so far"
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
