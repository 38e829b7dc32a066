"""A table with every look of cells."""

from __future__ import annotations

import pytest

from harness.reporting.table import Table


@pytest.fixture
def table() -> Table:
    """Three rows in two groups, one cell in bold with a mark."""
    return Table(
        headers=["metric", "system", "value"],
        rows=[
            ["cider ↑", "a_b & co", "0.5"],
            ["", "50 % [x]", "-0.25"],
            ["trm ↓", "c", "–"],
        ],
        alignment="llr",
        title="2 examples",
        notes=["difference: to a_b"],
        bold=frozenset({(0, 2)}),
        groups=frozenset({0, 2}),
        marks={(0, 2): "a"},
    )


@pytest.fixture
def lettered() -> Table:
    """Four systems by three metrics, with one to three letters at each value and
    numbers of several lengths.
    """
    return Table(
        headers=["system", "BLEU-4 ↑", "CIDEr-D ↑", "TRM (METEOR) ↓"],
        rows=[
            ["first", "0.2900", "12.5000", "1.23e-05"],
            ["second", "0.2812", "0.8117", "-0.0450"],
            ["ours", "0.1", "–", "0.0411"],
            ["theirs", "0.0999", "3.1415", ""],
        ],
        alignment="lrrr",
        title="four systems",
        bold=frozenset({(0, 1), (1, 2), (2, 3)}),
        marks={
            (0, 1): "abc",
            (1, 1): "b",
            (2, 1): "bc",
            (0, 2): "a",
            (1, 2): "abc",
            (0, 3): "abc",
            (1, 3): "c",
        },
    )
