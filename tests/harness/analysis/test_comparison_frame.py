"""Examples of compared systems in one order."""

from __future__ import annotations

import harness
from harness.analysis.comparison_frame import Frame
from harness.analysis.pairs import ComparedRun, pairs
from tests.support.comparisons import SPEC


def test_examples_are_in_the_order_of_their_ids_and_have_the_scores_of_both(project):
    run = harness.evaluate(SPEC)
    (pair,) = pairs([ComparedRun(run)])
    frame = Frame()
    frame.add(pair)
    assert list(frame.examples) == [f"e{k}" for k in range(6)]
    item = frame.item(pair, "length")
    assert (item.b.scores > item.a.scores).all()
    assert frame.item(pair, "length").a is item.a, "read once for all pairs"
    assert frame.clusters() is None and frame.refusal(pair, "length") == ""
