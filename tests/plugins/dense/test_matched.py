"""The recommended protocol by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.errors import UnknownName
from harness_metrics.dense.matched import match, overlap_function
from harness_metrics.dense.overlaps import box_overlaps
from tests.plugins.dense.test_soda import number

REFERENCES = [("a dog runs", 0.0, 10.0), ("a red car", 15.0, 20.0)]


def test_the_largest_sum_of_all_matchings():
    rng = np.random.default_rng(0)
    for _ in range(10):
        cells = rng.random((3, 4))
        best = max(
            sum(cells[k, column] for k, column in enumerate(columns))
            for columns in itertools.permutations(range(4), 3)
        )
        rows, columns = match(cells)
        assert cells[rows, columns].sum() == pytest.approx(best)
        assert len(set(columns.tolist())) == len(rows) == 3


def test_nothing_is_gained_by_repeated_or_reordered_events():
    assert number(REFERENCES, REFERENCES) == 1.0
    assert number(REFERENCES[::-1], REFERENCES) == 1.0
    assert number(REFERENCES * 2, REFERENCES) == pytest.approx(2 / 3)


def test_precision_recall_and_annotators():
    system = REFERENCES[:1]
    assert number(system, REFERENCES, measure="precision") == 1.0
    assert number(system, REFERENCES, measure="recall") == 0.5
    other = [("rain", 0.0, 10.0)]
    f1 = 2 / 3
    assert number(system, REFERENCES, other) == pytest.approx(f1 / 2)
    assert number(system, REFERENCES, other, annotators="best") == pytest.approx(f1)
    # one of three events of both: precision 1, recall 1/3
    merged = number(system, REFERENCES, other, annotators="merged")
    assert merged == pytest.approx(0.5)


def test_overlaps_are_registered():
    assert overlap_function("iou") is box_overlaps
    with pytest.raises(UnknownName, match="unknown overlap 'uoi'"):
        overlap_function("uoi")
