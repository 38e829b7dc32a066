"""A table with every look of cells."""

from __future__ import annotations

import pytest

from harness.reporting.table import Table


@pytest.fixture
def table() -> Table:
    """Three rows in two groups, one cell in bold with a mark."""
    return Table(
        headers=["metric", "system", "value"],
        rows=[["cider ↑", "a_b & co", "0.5"], ["", "50 % [x]", "-0.25"], ["trm ↓", "c", "–"]],
        alignment="llr",
        title="2 examples",
        notes=["difference: to a_b"],
        bold=frozenset({(0, 2)}),
        groups=frozenset({0, 2}),
        marks={(0, 2): "a"},
    )
