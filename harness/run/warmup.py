"""First-use work (METEOR's lexicon, for example),
started in the background as soon as a run knows its metrics.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from harness.contracts import Warms

LAZY_PARTS = ("numpy.fft", "numpy.linalg", "numpy.ma", "numpy.random")
"""Parts that numpy imports on first use. Two threads that use one for the first time at
once end in a RecursionError.
"""


def import_lazy_parts() -> None:
    """Import what threads would import at the same time; called before they start."""
    for name in LAZY_PARTS:
        importlib.import_module(name)


def warm(components: Iterable[object]) -> None:
    """Call ``warm()`` of the components that have it;
    it starts the work and returns at once.
    """
    for component in components:
        if isinstance(component, Warms):
            import_lazy_parts()
            component.warm()
