"""Lines about work that is done once, such as loading a model or building a dictionary.

The lines go to the logger ``harness.first_use`` at level INFO. The command line prints
them on stderr.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

log = logging.getLogger("harness.first_use")


@contextmanager
def announce(text: str, *, after: float = 1.0) -> Generator[None]:
    """Context of work that may take long.

    Work of less than ``after`` seconds is not announced.

    Parameters
    ----------
    text : str
        Name of the work, for example ``loading all-MiniLM-L6-v2``.
    after : float
        Seconds after which the first line is logged; the second, with the time, follows
        at the end.
    """
    started = time.perf_counter()
    timer = threading.Timer(after, log.info, ("%s ...", text))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    seconds = time.perf_counter() - started
    if seconds >= after:
        log.info("%s took %.1f s", text, seconds)
