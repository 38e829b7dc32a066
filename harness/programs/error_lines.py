"""Standard error of a program, line by line: for the logger, the log of the run, and
messages.
"""

from __future__ import annotations

import logging
import os
from collections import deque

from harness.files.component_lines import record_line

_READ_BYTES = 1 << 18
_LONGEST = 10_000
"""Bytes that are kept of a line without an end, such as a bar of progress."""
_log = logging.getLogger("harness.programs")


class ErrorLines:
    """The lines that a program writes to standard error; no method waits.

    Parameters
    ----------
    label : str
        Kind and name for messages.
    descriptor : int
        Descriptor of the pipe, which does not block.
    """

    def __init__(self, label: str, descriptor: int) -> None:
        self.label = label
        self.descriptor = descriptor
        self._unfinished = bytearray()
        self._last: deque[str] = deque(maxlen=20)

    def read(self) -> bool | None:
        """Log the lines that are there; return False at the end, and None where there
        is nothing yet.
        """
        try:
            data = os.read(self.descriptor, _READ_BYTES)
        except BlockingIOError:
            return None
        self._unfinished += data
        *lines, left = bytes(self._unfinished).split(b"\n")
        self._unfinished = bytearray(left[-_LONGEST:])
        if not data:
            lines.append(left)
            self._unfinished.clear()
        for line in lines:
            # What a bar of progress has overwritten is not seen on a terminal either.
            text = line.decode("utf-8", "replace").strip().rpartition("\r")[2].strip()
            if text:
                self._last.append(text)
                _log.info("%s: %s", self.label, text)
                record_line(self.label, text)
        return bool(data)

    def read_rest(self, reads: int = 64) -> None:
        """Log what is there, up to a number of reads: another process of the program
        may write without end.
        """
        for _ in range(reads):
            if not self.read():
                return

    def last_words(self) -> str:
        """Return the last line with an error, else the last one."""
        errors = [line for line in self._last if "Error" in line]
        return (errors or [*self._last] or ["nothing on standard error"])[-1]
