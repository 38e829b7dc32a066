"""Numbers of units that a test needs."""

from __future__ import annotations

from math import inf

from harness.decisions.statistics.sample_size import find_smallest_count


def test_the_smallest_count():
    assert find_smallest_count(lambda n: n >= 1) == 1
    assert find_smallest_count(lambda n: n >= 12345) == 12345
    assert find_smallest_count(lambda n: n >= 1e16) == inf
