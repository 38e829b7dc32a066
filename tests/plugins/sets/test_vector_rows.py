"""Vectors as rows of statistics and back."""

import numpy as np
import pytest

from harness.errors import HarnessError
from harness_metrics.sets import vector_rows


def test_rows_of_several_shapes_and_back():
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal((1, size, 3)).astype(np.float32) for size in (2, 4))
    rows = [vector_rows.pack(first, 1)[0], vector_rows.pack(second, 3)[0]]
    stats = np.full((2, len(rows[1])), np.nan)
    for target, row in zip(stats, rows):
        target[: len(row)] = row
    texts = vector_rows.unpack(stats, "mauve")
    assert texts.rows.tolist() == [0, 0, 1, 1, 1, 1]
    assert np.array_equal(texts.candidates, np.concatenate([first[0, :1], second[0, :3]]))
    assert np.array_equal(texts.references, np.concatenate([first[0, 1:], second[0, 3:]]))


def test_vectors_of_two_lengths_are_an_error():
    stats = np.array([[1.0, 0, 2, 1, 1], [1, 0, 1, 1, np.nan]])
    with pytest.raises(
        HarnessError, match="coverage: the statistics hold vectors of 1 and 2 numbers; expected one length"
    ):
        vector_rows.unpack(stats, "coverage")
