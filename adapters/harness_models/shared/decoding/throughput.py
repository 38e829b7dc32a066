"""Speed of generation: captions and tokens per second of a model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from harness.contracts import Generation


class Throughput:
    """Captions and tokens that a model wrote, and the time during which it wrote.

    Replicas that write at the same time share one object: the time in which at least
    one of them writes is counted once.
    """

    def __init__(self) -> None:
        self.captions = self.tokens = 0
        self.seconds = 0.0
        self._lock = Lock()
        self._active = 0
        self._since = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Return the counts; another process has a lock of its own."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock(), _active=0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of a ``with`` block."""
        with self._lock:
            if self._active == 0:
                self._since = time.perf_counter()
            self._active += 1
        try:
            yield
        finally:
            with self._lock:
                self._active -= 1
                if self._active == 0:
                    self.seconds += time.perf_counter() - self._since

    def count(self, results: Sequence[Any]) -> None:
        """Add the captions and tokens of generations; other results count nothing."""
        generations = [item for item in results if isinstance(item, Generation)]
        with self._lock:
            self.captions += sum(len(item.candidates) for item in generations)
            self.tokens += sum(sum(item.lengths or ()) for item in generations)

    def values(self) -> dict[str, float]:
        """Return ``captions``, ``tokens``, ``seconds`` and ``tokens_per_second`` (0
        before the first batch).
        """
        rate = self.tokens / self.seconds if self.seconds > 0 else 0.0
        return {
            "captions": self.captions,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "tokens_per_second": rate,
        }
