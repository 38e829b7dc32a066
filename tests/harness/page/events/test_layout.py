"""Rows of overlapping events, and round ticks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.page.events.layout import (
    MOST_ROWS,
    SHORTEST,
    clock_text,
    lay_out_lanes,
    length_of,
    pack_rows,
    ticks,
    time_spans,
)
from harness.page.events.scenes import scenes_of
from tests.support.event_runs import run_of, times

SPANS = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 0.3)).map(lambda p: (p[0], p[0] + p[1])),
    max_size=20,
).map(sorted)


@given(SPANS)
def test_bars_of_a_row_do_not_overlap_while_there_are_rows(spans):
    rows = pack_rows(spans)
    assert len(rows) == len(spans) and max(rows, default=0) < MOST_ROWS
    for row in range(MOST_ROWS - 1):
        own = [span for span, place in zip(spans, rows) if place == row]
        assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(own))


@given(st.floats(1e-3, 1e5), st.integers(2, 8))
def test_ticks_are_few_and_inside(length, most):
    places = ticks(length, most)
    assert places[0] == 0.0 and 2 <= len(places) <= most + 1
    assert places[-1] <= length * (1 + 1e-9)


@pytest.mark.parametrize(
    ("seconds", "length", "text"),
    [(20.0, 62.0, "20 s"), (300.0, 900.0, "5:00"), (3660.0, 9000.0, "1:01:00")],
)
def test_long_videos_have_minutes(seconds, length, text):
    assert clock_text(seconds, length) == text


def test_bars_stay_inside_and_are_never_too_short_to_hit():
    events = times(("a dog", 10.0, 10.0), ("a cat", 0.0, 12.0))
    (scene,) = scenes_of(run_of({"s": {"v": [events]}}, {"v": [events]})).scenes
    assert length_of(scene) == 12.0, "an end beyond the duration stays"
    for left, width in time_spans(scene)[0]:
        assert width >= SHORTEST and left >= 0 and left + width <= 1


def test_lanes_stand_one_below_the_other():
    overlapping = times(("a dog", 0.0, 6.0), ("a cat", 5.0, 9.0))
    run = run_of({"s": {"v": [times(("a dog", 0.0, 6.0))]}}, {"v": [overlapping]})
    (scene,) = scenes_of(run).scenes
    annotator, system = lay_out_lanes(scene, 20, 22, 6)
    assert (annotator.top, annotator.height) == (0, 20 + 2 * 22 + 6)
    assert (system.top, system.height) == (annotator.height, 20 + 22 + 6)
    assert [bar.top for bar in annotator.bars] == [20, 42]
