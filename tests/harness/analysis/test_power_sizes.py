"""Bounds of the requested and estimated sizes."""

from __future__ import annotations

import pytest

from harness.analysis.power_rules import RULES
from harness.analysis.power_sizes import MAX_FACTOR, MAX_SIZE, rule_of
from harness.errors import HarnessError


def test_rules_are_found_by_name():
    for name in RULES:
        assert rule_of(name) is RULES[name]
    with pytest.raises(HarnessError, match="harmonic"):
        rule_of("harmonic-meen")


def test_captions_are_extrapolated_less_far_than_examples():
    assert MAX_FACTOR["candidates"] == MAX_FACTOR["references"] < MAX_FACTOR["examples"]
    assert set(MAX_SIZE) == set(MAX_FACTOR)
