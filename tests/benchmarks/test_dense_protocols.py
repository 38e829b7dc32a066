"""Systems made worse by degrees, and the tables of docs/dense.md."""

from __future__ import annotations

import pytest

from benchmarks.dense_protocols import GRADES, PERTURBATIONS, make_tables
from benchmarks.dense_protocols import protocol_values as values_of


@pytest.fixture(scope="module")
def values():
    return values_of(62, 0, ["matched", "activitynet-2018"])


def test_each_grade_of_each_fault_lowers_the_recommended_number(values):
    matched = values["matched"]
    for fault in PERTURBATIONS:
        grades = [matched["none", 0.0], *(matched[fault, grade] for grade in GRADES)]
        assert grades == sorted(grades, reverse=True), fault
        assert len(set(grades)) == len(grades), fault
    for fault in ("one event over everything", "one caption everywhere"):
        assert matched[fault, 1.0] < 0.6 * matched["none", 0.0]


def test_dropped_events_are_no_loss_for_activitynet(values):
    numbers = values["activitynet-2018"]
    assert numbers["dropped", 1.0] > numbers["none", 0.0]


@pytest.mark.slow
def test_the_tables_of_the_page_are_printed_by_the_benchmark(root):
    page = (root / "docs" / "dense.md").read_text(encoding="utf-8")
    assert make_tables(values_of(62, 0)) in page
