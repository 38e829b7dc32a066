"""Series and data frames of other libraries."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.table_types import align_series, frame_records, series_labels

pd = pytest.importorskip("pandas")


def test_frames_are_rows():
    assert frame_records(pd.DataFrame({"id": [7], "caption": ["a dog"]})) == [{"id": 7, "caption": "a dog"}]
    assert frame_records([{"id": 7}]) is None and series_labels(["a"]) is None


def test_series_are_aligned_by_their_labels():
    first, second = pd.Series(["a", "b", "c"], index=[7, 8, 9]), pd.Series(["C", "A", "B"], index=[9, 7, 8])
    assert list(align_series(first, second)) == ["A", "B", "C"]
    assert align_series(first, pd.Series(["x", "y", "z"], index=[7, 8, 9])).tolist() == ["x", "y", "z"]
    assert align_series(["a"], second) is second


@pytest.mark.parametrize("labels", [[0, 1, 2], [7, 8, 8], ["7", "8", "9"]])
def test_series_with_other_labels_are_refused(labels):
    with pytest.raises(InputError, match=r"the labels of candidates and references differ: '7', '8', '9' and .*candidates\.tolist\(\)"):
        align_series(pd.Series(["a", "b", "c"], index=[7, 8, 9]), pd.Series(["A", "B", "C"], index=labels))
