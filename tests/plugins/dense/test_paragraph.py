"""Paragraphs of events by hand."""

from __future__ import annotations

import pytest

import harness
from harness.contracts import Event, EventSet
from tests.plugins.dense.test_soda import number

PARAGRAPH = {"protocol": "paragraph"}


def test_sentences_are_joined_in_the_order_of_the_file_without_times():
    events = [("A dog runs.", 10.0, 20.0), ("It sits!", 0.0, 10.0)]
    moved = [(text, 30.0, 40.0) for text, _, _ in events]
    assert number(moved, events, **PARAGRAPH) == 1.0
    assert number(events[::-1], events, **PARAGRAPH) < 1.0


def test_letters_alone_count_in_lower_case():
    assert number([("A DOG, 3 runs", 0, 1)], [("a dog runs", 0, 1)], **PARAGRAPH) == 1.0


def test_a_missing_video_is_an_empty_text():
    truth = EventSet((Event("a dog runs", (0.0, 1.0)),))
    said = [truth.to_text(), EventSet((), missing=True).to_text()]
    (result,) = harness.score(
        {"a": said[:1], "b": said[1:]},
        {"a": [truth.to_text()], "b": [truth.to_text()]},
        {"dense": {"text": "rouge", **PARAGRAPH}},
        bootstrap=0,
    ).values()
    assert result.value == pytest.approx(0.5)
