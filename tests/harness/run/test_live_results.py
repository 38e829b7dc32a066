"""Results so far that bars show."""

from __future__ import annotations

from harness.run.live_results import LiveResults


def test_the_first_bar_with_results_waits():
    assert not LiveResults(lambda records: None).seen
