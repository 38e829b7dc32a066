"""First-use work (METEOR's lexicon, for example), started in the background as soon as a run knows its metrics."""

from __future__ import annotations

from collections.abc import Iterable

from harness.contracts import Warms


def warm(components: Iterable[object]) -> None:
    """Call ``warm()`` of the components that have it; it starts the work and returns at once."""
    for component in components:
        if isinstance(component, Warms):
            component.warm()
