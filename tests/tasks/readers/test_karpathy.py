"""The ``karpathy`` reader."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness_tasks.readers.karpathy import KarpathySplits


def karpathy():
    def image(number, split):
        return {
            "cocoid": number,
            "imgid": number - 10,
            "split": split,
            "filepath": "val2014",
            "filename": f"{number}.jpg",
            "sentences": [
                {"raw": f"first of {number}", "tokens": []},
                {"raw": f"second of {number}"},
            ],
        }

    return {
        "dataset": "coco",
        "images": [image(11, "train"), image(12, "restval"), image(13, "test")],
    }


def test_karpathy_splits(save):
    path = save(karpathy())
    assert [x.id for x in KarpathySplits(path=path)] == ["11", "12", "13"]
    assert [x.id for x in KarpathySplits(path=path, split=["train", "restval"])] == [
        "11",
        "12",
    ]
    assert [x.id for x in KarpathySplits(path=path, split="test", id="imgid")] == ["3"]
    item = next(iter(KarpathySplits(path=path, split="test")))
    assert (item.references, item.media) == (
        ("first of 13", "second of 13"),
        "val2014/13.jpg",
    )
    assert item.meta == {"split": "test"}


def test_karpathy_without_cocoid(save):
    value = karpathy()
    for image in value["images"]:
        del image["cocoid"]
    assert [x.id for x in KarpathySplits(path=save(value))] == ["1", "2", "3"]


def test_karpathy_bad_input(save, error_message):
    value = karpathy()
    path = save(value)
    assert error_message(KarpathySplits(path=path, split="tset")) == (
        f"{path}: no split 'tset'; did you mean 'test'?; found train, restval, test"
    )
    value["images"][2]["sentences"] = []
    assert (
        error_message(KarpathySplits(path=save(value)))
        == f"{path}: 1 of 3 images has no references: '13'"
    )
    value["images"][1]["cocoid"] = 11
    assert (
        error_message(KarpathySplits(path=save(value)))
        == f"{path}: images: record 2: the id '11' occurs twice"
    )
    value["images"][0]["sentences"] = [{"tokens": []}]
    assert error_message(KarpathySplits(path=save(value))) == (
        f"{path}: images: record 1, sentences: record 1: the reference is null; "
        "expected text"
    )


def test_an_unknown_split_is_an_error_of_the_parameter(save):
    with pytest.raises(InputError) as caught:
        list(KarpathySplits(path=save(karpathy()), split="tset"))
    assert (caught.value.parameter, caught.value.value) == ("split", "tset")
    assert "no split 'tset'; did you mean 'test'?; found train, restval, test" in str(
        caught.value
    )


def test_fingerprint_depends_on_split_and_id(save):
    path = save(karpathy())
    readers = [
        KarpathySplits(path=path),
        KarpathySplits(path=path, split="test"),
        KarpathySplits(path=path, id="imgid"),
    ]
    prints = {reader.fingerprint() for reader in readers}
    assert len(prints) == 3
