"""Series and data frames of other libraries."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.table_types import (
    frame_records,
    order_of_labels,
    plain_value,
    row_labels,
)

pd = pytest.importorskip("pandas")


def test_frames_are_rows():
    assert frame_records(pd.DataFrame({"id": [7], "caption": ["a dog"]})) == [
        {"id": 7, "caption": "a dog"}
    ]
    assert frame_records([{"id": 7}]) is None and row_labels(["a"]) is None


def test_series_are_aligned_by_their_labels():
    first = pd.Series(["a", "b", "c"], index=[7, 8, 9])
    second = pd.Series(["C", "A", "B"], index=[9, 7, 8])
    assert (
        order_of_labels(first, second)
        == order_of_labels(first.to_frame(), second)
        == [1, 2, 0]
    )
    assert order_of_labels(first, pd.Series(["x", "y", "z"], index=[7, 8, 9])) is None
    assert order_of_labels(["a"], second) is None


def test_named_labels_are_a_column():
    frame = pd.DataFrame({"image_id": [7, 8], "caption": ["a dog", "a cat"]}).set_index(
        "image_id"
    )
    assert frame_records(frame) == [
        {"image_id": 7, "caption": "a dog"},
        {"image_id": 8, "caption": "a cat"},
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (float("nan"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (pd.array(["a", "b"]).to_numpy(), ["a", "b"]),
        ("a", "a"),
    ],
)
def test_cells_have_plain_values(cell, value):
    assert plain_value(cell) == value


@pytest.mark.parametrize("labels", [[0, 1, 2], [7, 8, 8], ["7", "8", "9"]])
def test_series_with_other_labels_are_refused(labels):
    with pytest.raises(
        InputError,
        match=r"the labels of candidates and references differ: '7', '8', "
        r"'9' and .*candidates\.tolist\(\)",
    ):
        order_of_labels(
            pd.Series(["a", "b", "c"], index=[7, 8, 9]),
            pd.Series(["A", "B", "C"], index=labels),
        )
