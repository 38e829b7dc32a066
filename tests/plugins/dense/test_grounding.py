"""Grounding by hand: times of given sentences."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError, InputError
from harness_metrics.dense.metric import Dense
from tests.plugins.dense.test_soda import number

GROUNDING = {"protocol": "grounding"}
REFERENCES = [("q", 0.0, 10.0), ("r", 0.0, 10.0)]


def test_the_mean_overlap_and_the_share_that_reaches_thresholds():
    system = [("q", 0.0, 5.0), ("r", 0.0, 10.0)]
    assert number(system, REFERENCES, **GROUNDING) == 0.75
    recall = {**GROUNDING, "measure": "recall"}
    assert number(system, REFERENCES, tious=[0.5], **recall) == 1.0
    assert number(system, REFERENCES, tious=[0.7], **recall) == 0.5
    # the mean over .3, .5 and .7
    assert number(system, REFERENCES, **recall) == pytest.approx((1 + 1 + 0.5) / 3)


def test_sentences_are_answered_in_their_order_and_silence_counts_zero():
    swapped = [("r", 0.0, 10.0), ("q", 0.0, 5.0)]
    assert number(swapped, [("q", 0.0, 5.0), ("r", 0.0, 10.0)], **GROUNDING) == 0.5
    assert number([], REFERENCES, **GROUNDING) == 0.0
    reversed_times = [("q", 10.0, 0.0), ("r", 0.0, 10.0)]
    assert number(reversed_times, REFERENCES, **GROUNDING) == 1.0


def test_another_number_of_times_and_measures_are_refused():
    with pytest.raises(InputError, match="1 times for 2 sentences"):
        number([("q", 0.0, 5.0)], REFERENCES, **GROUNDING)
    for measure in ("precision", "f1", "map"):
        with pytest.raises(HarnessError, match=f"has no measure '{measure}'"):
            Dense(measure=measure, **GROUNDING)
