"""Comparisons for charts: kept, cheap, or left out with a remedy."""

from __future__ import annotations

from dataclasses import replace

import harness
from harness.reporting.charts import comparisons
from harness.reporting.charts.comparisons import compared_systems


def test_few_pairs_are_all_compared(captions_run):
    compared = compared_systems(captions_run)
    assert (compared.base, compared.note) == ("", "")
    assert compared.rows == harness.compare(captions_run.path)


def test_too_many_pairs_are_compared_with_the_first_system(captions_run, monkeypatch):
    monkeypatch.setattr(comparisons, "MAX_CELLS", 2 * 4 * 16)
    run = replace(
        captions_run, path=None, arrays={r.statistics: captions_run.statistics(r) for r in captions_run.records}
    )
    compared = compared_systems(run)
    assert compared.base == "people"
    assert {row["system_a"] for row in compared.rows} == {"people"}
    assert len(compared.rows) == 2 * 4
    assert "harness.compare computes and keeps them" in compared.note


def test_comparisons_that_the_run_keeps_are_used_however_many(captions_run, monkeypatch):
    rows = harness.compare(captions_run.path)
    monkeypatch.setattr(comparisons, "MAX_CELLS", 0)
    assert compared_systems(captions_run).rows == rows


def test_no_comparison_is_computed_beyond_the_limit(captions_run, monkeypatch):
    monkeypatch.setattr(comparisons, "MAX_CELLS", 0)
    compared = compared_systems(replace(captions_run, path=None))
    assert compared.rows == []
    assert "3 systems" in compared.note
