"""Warm-up of components."""

from __future__ import annotations

from harness.run.warmup import warm


class Slow:
    def __init__(self) -> None:
        self.calls = 0

    def warm(self) -> None:
        self.calls += 1


def test_components_with_first_use_work_are_started_and_others_are_ignored():
    slow = Slow()
    warm([object(), slow, 3])
    assert slow.calls == 1
