"""What takes long on first use (compiled kernels, say) is begun in the background as soon as a run knows its metrics."""

from __future__ import annotations

from collections.abc import Iterable


def warm(components: Iterable[object]) -> None:
    """Call ``warm()`` of the metrics and distances that have it: it starts what takes long, and returns at once."""
    for component in components:
        begin = getattr(component, "warm", None)
        if callable(begin):
            begin()
