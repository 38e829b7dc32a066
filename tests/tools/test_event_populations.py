"""Populations of sets of events for calibration."""

from __future__ import annotations

import pytest

from harness.contracts import EventSet
from harness.registry import current
from harness_metrics.dense.metric import PROTOCOLS
from tools import event_populations
from tools.event_populations import CASES, event_population


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(event_populations, "EXAMPLES", 8)


def test_every_protocol_has_a_case():
    protocols = {values.get("protocol") for _, values in CASES.values()}
    assert protocols - {None} == set(PROTOCOLS)
    metrics = {
        entry.name for entry in current().entries("metrics") if "events" in entry.needs
    }
    assert {metric for metric, _ in CASES.values()} == metrics


@pytest.mark.parametrize("label", CASES)
def test_both_systems_describe_the_same_examples(label):
    first, second = event_population(label, 2)
    assert [item.id for item in first] == [item.id for item in second]
    assert [item.references for item in first] == [item.references for item in second]
    assert any(a.candidates != b.candidates for a, b in zip(first, second))
    count = 5 * 8 if label in event_populations.OF_CORPUS else 8
    assert len(first) == count


def test_a_share_of_zero_is_silence():
    said = [
        EventSet.from_text(item.candidates[0])
        for label in ("dense(matched)", "dense(vote2cap)")
        for item in event_population(label, 2)[0]
    ]
    assert any(not events.events and events.missing for events in said)
    assert any(events.events for events in said)
