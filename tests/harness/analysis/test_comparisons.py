"""Rows of comparisons as a list with a short representation."""

from __future__ import annotations

import pytest

from harness.analysis.comparisons import Comparisons
from tests.support.comparisons import make_comparison


def row(metric, better):
    return make_comparison(metric=metric, better=better)


def test_the_list_is_its_rows():
    rows = [row("one", "A"), row("two", "=")]
    assert Comparisons(rows) == rows
    assert repr(Comparisons(rows)) == "<comparisons of 1 pairs by 2 metrics: 1 of 2 significant>"


def test_fields_are_items_in_the_order_of_the_file():
    stored = make_comparison(difference=0.5, ci95=(0.25, 0.75))
    assert (stored["difference"], stored.difference) == (0.5, 0.5)
    assert list(stored)[:3] == ["metric", "system_a", "system_b"]
    assert not {"better", "p_holm", "p_bh", "forced"} & set(stored)
    assert stored.to_dict()["ci95"] == [0.25, 0.75]
    compared = make_comparison(better="A", p_holm=0.01, p_bh=0.01, forced=("data",))
    assert list(compared)[-4:] == ["forced", "p_holm", "p_bh", "better"]
    assert compared.to_dict()["forced"] == ["data"]
    with pytest.raises(KeyError):
        stored["better"]
