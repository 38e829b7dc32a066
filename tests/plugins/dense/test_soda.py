"""SODA by hand: the alignment, the order of events, the hypothesis of the texts."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import HarnessError
from harness_metrics.dense.metric import Dense
from harness_metrics.dense.soda import alignment_sums, best_alignment


def number(system, *annotators, **params):
    """Return the number of one video; events are (text, start, end)."""

    def text(events):
        return EventSet(tuple(Event(t, (s, e)) for t, s, e in events)).to_text()

    (result,) = harness.score(
        {"v": [text(system)]},
        {"v": [text(own) for own in annotators]},
        {"dense": {"text": "rouge", **params}},
        bootstrap=0,
    ).values()
    return result.value


def test_alignments_keep_the_order():
    cells = np.array([[0.2, 0.9], [0.8, 0.1]])
    # 0.9 or 0.8 alone, and 0.2 with 0.1: the crossing pair 0.9 and 0.8 is none
    assert alignment_sums(cells)[-1, -1] == 0.9
    assert best_alignment(cells).tolist() == [[0, 1]]
    assert best_alignment(np.zeros((2, 3))).tolist() == [[0, 1], [1, 2]]
    assert best_alignment(np.zeros((0, 3))).shape == (0, 2)


def test_a_larger_sum_is_never_left():
    rng = np.random.default_rng(0)
    for _ in range(20):
        cells = rng.random((4, 5))
        pairs = best_alignment(cells)
        assert (np.diff(pairs, axis=0) > 0).all()
        aligned = cells[pairs[:, 0], pairs[:, 1]].sum()
        assert aligned == pytest.approx(alignment_sums(cells)[-1, -1])


def test_events_are_taken_in_the_order_of_their_starts():
    events = [("a dog runs", 0.0, 10.0), ("a red car", 10.0, 20.0)]
    for protocol in ("soda-a", "soda-b", "soda-c", "soda-d"):
        assert number(events[::-1], events, protocol=protocol) == 1.0


def test_the_hypothesis_is_the_prediction_or_the_reference():
    system = [("a dog", 0.0, 10.0)]
    reference = [("a dog runs", 0.0, 10.0)]
    # ROUGE-L of precision 1 and recall 2/3, beta 1.2, and with both exchanged
    usual = 2.44 * (2 / 3) / (2 / 3 + 1.44)
    exchanged = 2.44 * (2 / 3) / (1 + 1.44 * 2 / 3)
    for variant in "abc":
        params = {"protocol": f"soda-{variant}"}
        assert number(system, reference, **params) == pytest.approx(usual)
        params["hypothesis"] = "reference"
        assert number(system, reference, **params) == pytest.approx(exchanged)


def test_several_events_keep_their_texts_when_the_hypothesis_is_exchanged():
    system = [("a dog", 0.0, 10.0), ("a red car", 10.0, 20.0), ("rain", 30.0, 40.0)]
    reference = [("a dog runs", 0.0, 10.0), ("a red car", 10.0, 15.0)]
    exchanged = 2.44 * (2 / 3) / (1 + 1.44 * 2 / 3)
    total = exchanged + 0.5
    params = {"protocol": "soda-c", "hypothesis": "reference"}
    assert number(system, reference, measure="precision", **params) == pytest.approx(
        total / 3
    )
    assert number(system, reference, measure="recall", **params) == pytest.approx(
        total / 2
    )


def test_the_hypothesis_is_in_the_signature_and_belongs_to_soda():
    metric = Dense(protocol="soda-c", hypothesis="reference")
    assert metric.signature().endswith("|hypothesis:reference")
    assert "hypothesis" not in Dense(protocol="soda-c").signature()
    for protocol in ("soda-d", "matched", "activitynet-2018"):
        with pytest.raises(HarnessError, match="has no 'hypothesis'"):
            Dense(protocol=protocol, hypothesis="reference")


def test_annotators_are_merged_best_or_mean():
    system = [("a dog runs", 0.0, 10.0)]
    equal, other = [("a dog runs", 0.0, 10.0)], [("rain", 0.0, 10.0)]
    params = {"protocol": "soda-c"}
    assert number(system, equal, other, **params) == 1.0
    assert number(system, equal, other, annotators="mean", **params) == 0.5
    # one of two references: precision 1, recall 1/2
    merged = number(system, equal, other, annotators="merged", **params)
    assert merged == pytest.approx(2 / 3)


def test_all_variants_of_two_events():
    system = [("a dog runs", 0.0, 10.0), ("a red car", 10.0, 20.0)]
    reference = [("a dog runs", 0.0, 10.0), ("a red car", 15.0, 20.0)]
    # cells 1 x 1 and 1/2 x 1: 1.5 of 2 on both sides
    assert number(system, reference, protocol="soda-c") == 0.75
    assert number(system, reference, protocol="soda-d") == 0.75
    assert number(system, reference, protocol="soda-b") == 1.0
    # the second pair is cut at .7 and .9, and is aligned at 0 then
    assert number(system, reference, protocol="soda-a") == 1.0
    # the order of the texts is the other one: one of both alone is aligned
    crossed = [("a red car", 0.0, 10.0), ("a dog runs", 10.0, 20.0)]
    assert number(crossed, reference, protocol="soda-c") < 0.4
