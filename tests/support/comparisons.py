"""Comparisons with the fields that a test names."""

from __future__ import annotations

from typing import Any

from harness.analysis.comparisons import Comparison


def make_comparison(**fields: Any) -> Comparison:
    """Return the comparison of systems ``a`` and ``b`` by the metric ``x``; other fields are empty or 0 unless given."""
    values: dict[str, Any] = {
        "metric": "x", "system_a": "a", "system_b": "b", "higher_is_better": True, "sizes_differ": False, "a": None,
        "b": None, "difference": None, "ci95": None, "p_value": None, "p_bootstrap": None, "draws": 0, "exact": False,
        "note": "", "n": 0, "left_out": 0, "sign_p_value": None, "a_larger": 0, "b_larger": 0, "ties": 0,
    }  # fmt: skip
    return Comparison(**{**values, **fields})
