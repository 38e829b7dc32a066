"""Protocols are runtime-checkable: an object is recognised by its members."""

from __future__ import annotations

import pytest

from harness import contracts

MEMBERS = {
    "Adapter": ("fingerprint", "generate"),
    "Scorer": ("score_references",),
    "Listener": ("listen",),
    "Prepares": ("prepare",),
    "Describes": ("describe",),
    "Timed": ("timings",),
    "Reader": ("fingerprint", "__iter__"),
    "Metric": ("spec", "signature", "fit", "stats", "per_example", "reduce"),
    "TokenScoreMetric": ("spec", "signature", "evaluate_scores", "per_example"),
    "Permutes": ("null",),
    "Details": ("details",),
    "Explains": ("explain",),
    "Warms": ("warm",),
    "OwnInterval": ("interval",),
    "HasTokenIntervals": ("intervals",),
    "Distance": ("name", "signature", "matrices"),
    "Embedding": ("name", "signature", "fit", "encode"),
}


def instance(members):
    return type("Component", (), {name: lambda self: None for name in members})()


@pytest.mark.parametrize("name", MEMBERS)
def test_an_object_with_all_members_fulfils_a_protocol(name):
    protocol = getattr(contracts, name)
    members = MEMBERS[name]
    assert isinstance(instance(members), protocol)
    for left_out in members:
        assert not isinstance(
            instance([m for m in members if m != left_out]), protocol
        ), left_out


def test_a_number_fulfils_none():
    assert not any(isinstance(3.5, getattr(contracts, name)) for name in MEMBERS)


def test_all_exports_exist():
    for name in contracts.__all__:
        assert hasattr(contracts, name), name
