"""Bounds of the requested and estimated sizes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness.decisions.power import sizes as power_sizes
from harness.decisions.power.rules import RULES
from harness.decisions.power.sizes import MAX_FACTOR, MAX_SIZE, model_studies, rule_of
from harness.errors import HarnessError


def test_rules_are_found_by_name():
    for name in RULES:
        assert rule_of(name) is RULES[name]
    with pytest.raises(HarnessError, match="harmonic"):
        rule_of("harmonic-meen")


def test_captions_are_extrapolated_less_far_than_examples():
    assert MAX_FACTOR["candidates"] == MAX_FACTOR["references"] < MAX_FACTOR["examples"]
    assert set(MAX_SIZE) == set(MAX_FACTOR)


@pytest.mark.parametrize(
    ("kind", "systems", "message"),
    [
        (None, ["m"], "no size of the pilot"),
        ("judgments", ["m", ""], "no size of the pilot"),
        ("judgments", [""], "r: the judged captions name no systems"),
    ],
)
def test_judged_captions_need_systems(monkeypatch, kind, systems, message):
    run = SimpleNamespace(
        provenance=SimpleNamespace(kind=kind),
        samples=SimpleNamespace(
            systems=[SimpleNamespace(model=name) for name in systems]
        ),
    )
    monkeypatch.setattr(power_sizes, "Run", SimpleNamespace(open=lambda path: run))
    monkeypatch.setattr(power_sizes, "pilot", lambda run: {})
    monkeypatch.setattr(power_sizes, "plans_with_p_values", lambda run, metrics: [])
    with pytest.raises(HarnessError, match=message):
        model_studies("r", [], None, None, None)
