"""Rows of prediction, target and distractors."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness_metrics.pragmatic.rows import check_rows
from harness_tasks.a3ds.scene import indices

ROW = {"prediction": "a ball", "target_id": 5, "distractor_id": 9}


@pytest.mark.parametrize(
    "changes", [{}, {"target_id": "5"}, {"distractor_id": [9]}, {"distractor_ids": [9]}]
)
def test_ids_of_all_forms(changes):
    rows = check_rows([ROW, ROW | changes])
    assert (len(rows), rows.targets.tolist(), rows.distractors.tolist()) == (
        2,
        [5, 5],
        [[9], [9]],
    )
    np.testing.assert_array_equal(rows.target_values, indices([5, 5]))
    assert rows.distractor_values.shape == (2, 1, 6)


def test_missing_distractors_repeat_the_first():
    rows = check_rows([ROW | {"distractor_id": [1, 2, 3]}, ROW])
    assert rows.distractors.tolist() == [[1, 2, 3], [9, 9, 9]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_id": 480_000}, "row 1: .*from 0 to 479999"),
        ({"distractor_id": -1}, "row 1: .*from 0 to 479999"),
        ({"distractor_id": None}, "row 1: .*from 0 to 479999"),
        ({"distractor_id": []}, "row 1: the list of distractors is empty"),
        ({"prediction": None}, "row 1: 'prediction' is None; expected text"),
        ({"prediction": float("nan")}, "row 1: 'prediction' is nan"),
    ],
)
def test_invalid_rows(changes, message):
    with pytest.raises(InputError, match=message):
        check_rows([ROW, ROW | changes])


def test_rows_are_mappings():
    with pytest.raises(InputError, match="row 0: found 3; expected a mapping"):
        check_rows([3])  # type: ignore[list-item]
    assert len(check_rows([])) == 0
