"""The ``vdtk`` reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tasks.readers.vdtk import VdtkList, vdtk_records


def test_vdtk_ids(save):
    def ids(*extra):
        value = [{"references": ["r"], "candidates": ["c"], **more} for more in extra]
        return [x.id for x in VdtkList(path=save(value))]

    assert ids({}, {}) == ["0", "1"]
    assert ids({"media_path": "a.jpg"}, {"media_path": "b.jpg"}) == ["a.jpg", "b.jpg"]
    assert ids({"media_path": "a.jpg"}, {"media_path": "a.jpg"}) == ["0", "1"]
    assert ids({"image_id": 5, "media_path": "a.jpg"}, {"image_id": 6}) == ["5", "6"]


def test_vdtk_fields(save):
    item = next(
        iter(
            VdtkList(
                path=save(
                    [{"references": ["r", "s"], "media_path": "a.jpg", "meta": 1}],
                    "a.jsonl",
                )
            )
        )
    )
    assert (item.references, item.media, item.meta) == (
        ("r", "s"),
        "a.jpg",
        {"meta": 1},
    )


@pytest.mark.parametrize(
    "record, expected",
    [
        ({"candidates": []}, "'references' is null; expected a list of captions"),
        ({"references": "a dog"}, "'references' is text; expected a list of captions"),
        ({"references": []}, "the example '0' has no references"),
        ({"references": [""]}, "empty reference ''"),
        ({"references": [None]}, "the reference is null; expected text"),
    ],
)
def test_vdtk_bad_input(save, error_message, record, expected):
    path = save([record])
    assert error_message(VdtkList(path=path)).startswith(
        f"{path}: record 1: {expected}"
    )


def test_vdtk_duplicate_ids(save, error_message):
    path = save([{"id": 1, "references": ["a"]}, {"id": 1, "references": ["a"]}])
    assert (
        error_message(VdtkList(path=path))
        == f"{path}: record 2: the id '1' occurs twice"
    )


def test_records_and_ids_of_a_file_without_references(save):
    rows, ids = vdtk_records(
        Path(save([{"candidates": ["a"], "_id": 3}, {"candidates": ["b"], "_id": 4.0}]))
    )
    assert ([row.fields["candidates"] for row in rows], ids) == (
        [["a"], ["b"]],
        ["3", "4"],
    )
