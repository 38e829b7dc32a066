"""Ends of what components have started, such as programs: with the run that used it.

A component that is used while a run computes is closed when the last run of this
process ends, whoever still holds the component; it starts again at its next use. One
that is used outside of a run stays until nobody holds it.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet


class Closes(Protocol):
    """A component that has started something."""

    def close(self) -> None:
        """End it; nothing happens where it has ended."""
        ...


_lock = threading.Lock()
_runs = 0
_used: WeakSet[Closes] = WeakSet()


def end_with_run(component: Closes) -> None:
    """Close a component when the run that goes on ends; do nothing outside of a run."""
    with _lock:
        if _runs:
            _used.add(component)


@contextmanager
def ending_components() -> Generator[None]:
    """Context of a run, at whose end the components are closed that were used in it.

    Runs in several threads may use one component: the last run closes all.
    """
    global _runs
    with _lock:
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            ended = [] if _runs else list(_used)
            if not _runs:
                _used.clear()
        for component in ended:
            component.close()
