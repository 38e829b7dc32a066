"""What can be seen of a run while it goes on: the latest captions and the estimates of its scores."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.contracts import Example
from harness.run.estimates import Estimates

LATEST = 12
"""Number of captions that are kept."""


@dataclass
class Watch:
    """View of the runs of one command; another thread may read it."""

    task: str = ""
    """Task of the run that goes on."""
    examples: int = 0
    """Number of its examples."""
    estimates: Estimates | None = None
    """Estimates of its scores; None before the first are computed."""
    latest: deque[tuple[str, Example, Mapping[str, object]]] = field(default_factory=lambda: deque(maxlen=LATEST))
    """Model, example and row of its latest captions, in the order of their arrival."""

    def begin(self, task: str, examples: int) -> None:
        """Forget the run before."""
        self.task, self.examples, self.estimates = task, examples, None
        self.latest.clear()
