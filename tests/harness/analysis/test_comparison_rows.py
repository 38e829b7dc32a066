"""Rows of comparisons without a test."""

from __future__ import annotations

import harness
from harness.analysis.comparison_rows import row_without_verdict, untested_row
from harness.analysis.pairs import ComparedRun, pairs
from tests.support.comparisons import SPEC


def test_a_row_without_a_test_has_the_numbers_and_the_reason(project):
    (pair,) = pairs([ComparedRun(harness.evaluate(SPEC))])
    row = untested_row(pair, "length", "not installed")
    assert (row.system_a, row.system_b, row.n) == ("short", "long", 6)
    assert row.a < row.b and row.p_value is None and row.note == "not installed"
    apart = row_without_verdict(pair, "length", "1 and 3 candidates")
    assert apart.sizes_differ and apart.note == "no verdict: 1 and 3 candidates"
