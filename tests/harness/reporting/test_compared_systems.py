"""Comparisons of the systems of a run: all pairs where they are affordable."""

from __future__ import annotations

from dataclasses import replace

import pytest

import harness
from harness.analysis.comparison_budget import GENERAL, PER_TEST
from harness.registry.display_names import display_name
from harness.reporting import compared_systems as module
from harness.reporting.compared_systems import compared_systems


def test_few_pairs_are_all_compared(captions_run):
    compared = compared_systems(captions_run)
    assert (compared.base, compared.note) == ("", "")
    assert compared.rows == harness.compare(captions_run.path)


def _in_memory(run):
    """Return the run without the folder in which its comparisons are kept."""
    return replace(run, path=None)


def test_metrics_whose_tests_are_too_slow_are_named(captions_run):
    compared = compared_systems(_in_memory(captions_run), budget=3 * 16 * GENERAL)
    assert compared.base == ""
    names = {row.metric for row in compared.rows}
    absent = {record.metric for record in captions_run.records} - names
    assert absent and len(compared.rows) == 3 * len(names)
    assert all(display_name(name) in compared.note for name in absent)
    assert "harness.compare computes and keeps them" in compared.note


def test_too_many_pairs_are_compared_with_the_first_system(captions_run):
    compared = compared_systems(_in_memory(captions_run), budget=2.6 * PER_TEST)
    assert compared.base == "people"
    assert {row.system_a for row in compared.rows} == {"people"}
    assert len(compared.rows) == 2
    assert "harness.compare computes and keeps them" in compared.note


@pytest.mark.parametrize(("most", "base"), [(2, "people"), (3, ""), (4, "")])
def test_more_pairs_than_are_compared_are_those_of_the_first_system(
    captions_run, monkeypatch, most, base
):
    monkeypatch.setattr(module, "MAX_PAIRS", most)
    found = compared_systems(captions_run)
    assert (found.base, len(found.rows)) == (base, 4 * (2 if base else 3))
    remedy = f"harness compare {captions_run.path} computes and keeps them"
    assert found.note == (
        f"not all pairs of the 3 systems are compared; {remedy}" if base else ""
    )


def test_comparisons_that_the_run_keeps_are_used_however_many(captions_run):
    rows = harness.compare(captions_run.path)
    assert compared_systems(captions_run, budget=0).rows == rows


def test_no_comparison_is_computed_beyond_the_limit(captions_run):
    compared = compared_systems(replace(captions_run, path=None), budget=0)
    assert compared.rows == []
    assert "3 systems" in compared.note


def test_without_all_pairs_no_system_is_compared_where_that_is_asked(captions_run):
    compared = compared_systems(
        _in_memory(captions_run), budget=2.6 * PER_TEST, all_pairs_only=True
    )
    assert (compared.rows, compared.base) == ([], "")
    assert "harness.compare computes and keeps them" in compared.note
