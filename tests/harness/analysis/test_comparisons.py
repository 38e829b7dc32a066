"""Rows of comparisons as a list with a short representation."""

from __future__ import annotations

from harness.analysis.comparisons import Comparisons


def row(metric, better):
    return {"metric": metric, "system_a": "a", "system_b": "b", "better": better}


def test_the_list_is_its_rows():
    rows = [row("one", "A"), row("two", "=")]
    assert Comparisons(rows) == rows
    assert repr(Comparisons(rows)) == "<comparisons of 1 pairs by 2 metrics: 1 of 2 significant>"
