"""Sizes of figures."""

from __future__ import annotations

import pytest

from harness.reporting.charts.layout import Layout

PAPER = Layout(width=240, panel=50, font=8)


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (3, 3), (5, 3), (9, 3)])
def test_rows_of_panels_are_even(count, columns):
    assert PAPER.columns(count) == columns


def test_labels_take_room_from_the_panels():
    assert PAPER.columns(6, labels=100) == 2
    assert PAPER.columns(6, labels=230) == 1
    assert PAPER.panel_width(2, labels=100) == (240 - 100 - PAPER.gap) / 2


def test_a_figure_that_turned_out_wider_is_laid_out_narrower():
    trimmed = PAPER.trim_to(260)
    assert trimmed.panel_width(1) == PAPER.panel_width(1) - 20
    assert trimmed.trim_to(243).panel_width(1) == PAPER.panel_width(1) - 23


def test_labels_have_a_limit():
    assert PAPER.label_space(["a" * 1000]) == PAPER.label_limit
    assert PAPER.label_space([]) == 0
