"""Comparisons with the fields that a test names."""

from __future__ import annotations

from typing import Any

from harness.analysis.comparisons import Comparison

SPEC = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": [
        {"echo": {"n": 1, "label": "short"}},
        {"echo": {"n": 3, "label": "long"}},
    ],
    "metrics": ["length"],
}
"""Spec of a run of two systems, whose captions are echoes of references."""


def make_comparison(**fields: Any) -> Comparison:
    """Return the comparison of systems ``a`` and ``b`` by the metric ``x``; other
    fields are empty or 0 unless given.
    """
    return Comparison(
        **{
            "metric": "x",
            "system_a": "a",
            "system_b": "b",
            "higher_is_better": True,
            "note": "",
            "n": 0,
            **fields,
        }
    )
