"""Rows that a program passes."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.rows import group_by_id, match_rows, rows_of, texts_of_rows


def test_rows_are_mappings_with_more_than_a_caption():
    assert rows_of([{"caption": "a dog", "references": ["a"]}]) == [
        {"caption": "a dog", "references": ["a"]}
    ]
    for value in (
        ["a dog"],
        [["a dog"]],
        [{"caption": "a dog"}],
        "a dog",
        {"1": "a dog"},
        [],
        7,
    ):
        assert rows_of(value) is None


def test_captions_are_those_of_the_role():
    rows = [
        {"id": 1, "caption": "a dog", "references": ["the dog", "dogs"]},
        {"id": 2, "caption": "a cat", "references": ["cats"]},
    ]
    assert texts_of_rows(rows, "candidates") == ["a dog", "a cat"]
    assert texts_of_rows(rows, "references") == [["the dog", "dogs"], ["cats"]]
    assert texts_of_rows(
        [{"ref1": "a", "ref2": "b"}, {"ref1": "c", "ref2": ""}], "references"
    ) == [["a", "b"], ["c"]]
    with pytest.raises(
        InputError,
        match=r"references: no column of references; found 'id', 'score'; "
        r"pass the texts: \[row\['NAME'\] for row in rows\]",
    ):
        texts_of_rows([{"id": 1, "score": 2.0}], "references")


def test_ids_that_both_sides_share():
    assert match_rows([{"image_id": 7, "a": 1}], [{"Image ID": "7", "b": 2}]) == (
        ["7"],
        ["7"],
    )
    assert match_rows([{"image_id": 7.0}], [{"id": 7}]) == (["7"], ["7"])
    assert match_rows([{"image_id": 7}], [{"image_id": 8}]) == (["7"], ["8"])
    assert match_rows([{"image_id": 7}], [{"id": 8}]) is None
    numbered = [{"id": 0, "image_id": 8}, {"id": 1, "image_id": 7}]
    assert match_rows(
        numbered, [{"id": 0, "image_id": 7}, {"id": 1, "image_id": 8}]
    ) == (["8", "7"], ["7", "8"])
    assert group_by_id(["1", "2", "1"], ["a", ["b"], "c"]) == {
        "1": ["a", "c"],
        "2": ["b"],
    }
