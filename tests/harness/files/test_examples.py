"""Examples from rows, and from separate lists of images and captions."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.examples import RowReader, examples_by_image, with_root
from harness.files.records import Record
from harness.files.table_columns import find_columns


def rows(*fields):
    return [Record(f"f:{number}", item) for number, item in enumerate(fields, 1)]


def read(*fields, **params):
    columns = find_columns({}, fields[:1], "f")
    return list(RowReader(columns, **params).examples(rows(*fields)))


def test_lists_of_references():
    first, second = read(
        {"id": 1, "references": ["a", "b"], "x": 5},
        {"id": 2, "references": ["c"], "x": 6},
    )
    assert (first.id, first.references, first.meta) == ("1", ("a", "b"), {"x": 5})
    assert second.references == ("c",)


def test_rows_of_one_id_make_one_example_in_the_order_of_first_rows():
    examples = read(
        {"id": 1, "caption": "a"}, {"id": 2, "caption": "b"}, {"id": 1, "caption": "c"}
    )
    assert [(item.id, item.references) for item in examples] == [
        ("1", ("a", "c")),
        ("2", ("b",)),
    ]


def test_duplicate_ids():
    with pytest.raises(
        InputError, match=r"^f:2: the id '1' occurs twice \(first in f:1\)$"
    ):
        read({"id": 1, "references": ["a"]}, {"id": 1, "references": ["b"]})


def test_lists_of_references_do_not_wait_for_the_rest_of_the_file():
    columns = find_columns({}, [{"id": 1, "references": ["a"]}], "f")
    examples = RowReader(columns).examples(
        rows({"id": 1, "references": ["a"]}, {"id": 2})
    )
    assert next(examples).id == "1"
    with pytest.raises(InputError, match=r"^f:2: 'references' is missing"):
        next(examples)


def test_single_references_wait_and_what_follows_keeps_its_place():
    first, second, third = read(
        {"id": 1, "caption": "a"},
        {"id": 2, "caption": ["b", "c"]},
        {"id": 3, "caption": "d"},
        {"id": 1, "caption": "e"},
    )
    assert [item.references for item in (first, second, third)] == [
        ("a", "e"),
        ("b", "c"),
        ("d",),
    ]


def test_example_without_references():
    with pytest.raises(InputError, match=r"^f:1: the example '1' has no references$"):
        read({"id": 1, "references": []})
    with pytest.raises(
        InputError, match=r"^f:2: 'references' is missing or null; expected captions$"
    ):
        read({"id": 1, "references": ["a"]}, {"id": 2})


def test_nulls_in_one_of_several_columns_are_skipped():
    assert read({"id": 1, "caption_0": "a", "caption_1": None})[0].references == ("a",)


def test_streams_need_adjacent_rows_of_one_id():
    parts = (
        {"id": 1, "caption": "a"},
        {"id": 1, "caption": "b"},
        {"id": 2, "caption": "c"},
    )
    assert [item.references for item in read(*parts, consecutive=True)] == [
        ("a", "b"),
        ("c",),
    ]
    with pytest.raises(InputError, match=r"^f:3: the id '1' recurs after other ids"):
        read(parts[0], parts[2], parts[1], consecutive=True)


def test_turns_of_a_dialogue_are_joined_to_the_source():
    assert (
        read({"id": 1, "references": ["a"], "context": ["hi", "hello"]})[0].source
        == "hi\nhello"
    )


def test_limit_and_media_root():
    item = read(
        {"id": 1, "references": ["a", "b"], "file_name": "x.jpg"},
        limit_references=1,
        media_root="/img/",
    )[0]
    assert (item.references, item.media) == (("a",), "/img/x.jpg")


def test_unused_fields_are_metadata():
    item = read({"id": 1, "references": ["a"], "candidates": ["b"], "score": 2})[0]
    assert item.meta == {"score": 2}


def test_rows_without_an_id_column_are_numbered():
    reader = RowReader(find_columns({"id": None}, [{"caption": "a"}], "f"))
    assert [
        item.id for item in reader.examples(rows({"caption": "a"}, {"caption": "b"}))
    ] == ["0", "1"]


def test_media_names():
    assert with_root("a.jpg", None) == "a.jpg"
    assert with_root("", "images") is None
    assert with_root(5, "images") is None


def test_examples_by_image():
    images = {"1": ("1.jpg", {"split": "test"}), "2": (None, {})}
    examples = list(
        examples_by_image(
            images, {"1": ["a", "b"], "2": ["c"]}, "f", noun="image", limit_references=1
        )
    )
    assert [(item.id, item.references, item.media, item.meta) for item in examples] == [
        ("1", ("a",), "1.jpg", {"split": "test"}),
        ("2", ("c",), None, {}),
    ]
    with pytest.raises(InputError, match=r"^f: 1 of 2 videos has no references: '2'$"):
        list(
            examples_by_image(
                images, {"1": ["a"]}, "f", noun="video", limit_references=None
            )
        )
