"""Every planted fault still has its place in the sources, and its tests."""

from __future__ import annotations

import ast

import pytest

from tools.mutants.faults import ROOT, find_stages, read_faults

AREAS, FAULTS = read_faults()


@pytest.mark.parametrize("name", FAULTS)
def test_the_text_that_a_fault_replaces_occurs_once(name):
    fault = FAULTS[name]
    changed = fault.plant((ROOT / fault.file).read_text(encoding="utf-8"))
    if fault.file.endswith(".py"):
        ast.parse(changed)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_python_has_tests_to_run(name):
    fault = FAULTS[name]
    if fault.file.endswith(".py"):
        assert find_stages(fault, AREAS[fault.area])


def test_sources_and_tests_of_an_area_are_there():
    for area in AREAS.values():
        assert all((ROOT / test).is_file() for test in area.tests), area.name
        assert all(any(ROOT.glob(pattern)) for pattern in area.sources), area.name
