"""Events in words."""

from __future__ import annotations

import pytest

from harness.contracts import Event, EventSet
from harness.page.events.words import place_text, readable_texts


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (EventSet(()), "(no events)"),
        (EventSet((), missing=True), "(no prediction)"),
        (
            EventSet((Event("a", (0.0, 1.5)), Event("b", (1.0, 2.0)))),
            "0 to 1.5 s: a\n1 to 2 s: b",
        ),
        (EventSet((Event("a", (1.0, 2.0, 3.0, 4.0)),)), "(1, 2) to (3, 4): a"),
    ],
)
def test_a_set_has_a_line_for_each_event(events, text):
    assert readable_texts([events.to_text(), "a dog"]) == (text, "a dog")


def test_a_box_in_a_scene_is_told_by_its_ends():
    corners = (0.0, 0.0, 0.0, *(1.0, 2.0, 3.0) * 7)
    assert place_text(Event("a", corners)) == "x 0 to 1, y 0 to 2, z 0 to 3"
