"""Every planted fault is found by the adversary."""

from __future__ import annotations

import pytest

from tools.soak.planted import FAULTS, find, plant


def test_at_least_ten_faults_are_listed():
    assert len(FAULTS) >= 10


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_changes_the_sources_and_leaves_a_program(name, tmp_path):
    plant(FAULTS[name], tmp_path)
    for change in (FAULTS[name], *FAULTS[name].get("also", ())):
        compile((tmp_path / change["file"]).read_text(), change["file"], "exec")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.get("quick")])
def test_a_planted_fault_is_found(name):
    """The faults that the adversary finds within a minute; ``python -m tools.soak.planted`` looks for all."""
    assert find(FAULTS[name], minutes=3.0, seed=1, workers=2), FAULTS[name]["why"]
