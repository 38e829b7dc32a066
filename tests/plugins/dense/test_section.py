"""Timelines on the page of a run."""

from __future__ import annotations

import harness
from harness.contracts import Event, EventSet
from harness_metrics.dense.section import SECTION


def run_of(candidates, metric):
    """Return a run of one system in memory."""
    references = [EventSet((Event("a dog <runs>", (0.0, 5.0)),), 10.0).to_text()]
    if metric != "dense":
        references = ["a dog runs"]
    return harness.score(
        {"system": {"v": candidates, "w": candidates}},
        {"v": references, "w": references},
        metric,
    ).run


def test_each_video_has_a_timeline_with_its_words():
    events = EventSet((Event("a dog & a cat", (0.0, 2.5)),))
    page = SECTION.html(run_of([events.to_text()], "dense"))
    assert page.count("<svg") == 2
    assert "annotator 1" in page and "system" in page
    assert "0 to 2.5 s: a dog &amp; a cat" in page
    assert "a dog &lt;runs&gt;" in page
    # half of the annotator's event: .15 + .85 / 2
    assert "fill-opacity='0.57'" in page or "fill-opacity='0.58'" in page


def test_a_missing_prediction_is_said():
    page = SECTION.html(run_of([EventSet((), missing=True).to_text()], "dense"))
    assert "no prediction" in page


def test_a_run_of_captions_or_boxes_has_none():
    assert SECTION.html(run_of(["a dog"], "rouge")) == ""
    assert list(SECTION.lines(None)) == []
