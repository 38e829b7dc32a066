"""Every planted fault is found by the adversary."""

from __future__ import annotations

import pytest
from hypothesis.stateful import RULE_MARKER

from tools.soak.machine import Adversary
from tools.soak.planted import FAULTS, find, plant
from tools.soak.run import _rules


def test_at_least_ten_faults_are_listed():
    assert len(FAULTS) >= 10


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_changes_the_sources_and_leaves_a_program(name, tmp_path):
    plant(FAULTS[name], tmp_path)
    for change in (FAULTS[name], *FAULTS[name].get("also", ())):
        compile((tmp_path / change["file"]).read_text(), change["file"], "exec")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_rules_of_the_adversary(name):
    assert FAULTS[name]["rules"] and set(FAULTS[name]["rules"]) <= set(
        _rules(Adversary, RULE_MARKER)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name):
    """By histories of the rules that are to find it; ``python -m tools.soak.planted``
    looks for all faults by all rules.
    """
    assert find(
        FAULTS[name], minutes=8.0, seed=FAULTS[name]["seed"], workers=1, aimed=True
    ), FAULTS[name]["why"]
