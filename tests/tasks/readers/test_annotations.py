"""COCO annotations."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.contracts import Reader
from harness.errors import InputError
from harness_tasks.readers.annotations import check_splits, split_names
from harness_tasks.readers.coco import CocoCaptions
from harness_tasks.readers.karpathy import KarpathySplits
from harness_tasks.readers.msrvtt import MsrVtt
from harness_tasks.readers.vdtk import VdtkList, vdtk_records


def coco(**changes):
    value = {
        "info": {},
        "images": [{"id": 9, "file_name": "b.jpg"}, {"id": 3, "file_name": "a.jpg"}],
        "annotations": [
            {"id": 1, "image_id": 3, "caption": "a cat"},
            {"id": 2, "image_id": 9, "caption": "a dog"},
            {"id": 3, "image_id": 3, "caption": "the cat 🐈"},
        ],
    }
    return {**value, **changes}


def test_coco_in_the_order_of_its_images(save):
    for name in ("captions.json", "captions.json.gz"):
        reader = CocoCaptions(path=save(coco(), name), media_root="val2014")
        assert isinstance(reader, Reader)
        examples = list(reader)
        assert [(x.id, x.references, x.media) for x in examples] == [
            ("9", ("a dog",), "val2014/b.jpg"),
            ("3", ("a cat", "the cat 🐈"), "val2014/a.jpg"),
        ]
    assert [
        x.references for x in CocoCaptions(path=save(coco()), limit_references=1)
    ] == [("a dog",), ("a cat",)]


@pytest.mark.parametrize(
    "value, expected",
    [
        (coco(annotations=[]), "2 of 2 images have no references: '9', '3'"),
        (
            coco(annotations=[{"image_id": 9, "caption": "a"}]),
            "1 of 2 images has no references: '3'",
        ),
        (
            coco(annotations=[{"image_id": 8, "caption": "a"}]),
            "annotations: record 1: the annotation refers to the image '8', "
            "which 'images' does not list",
        ),
        (
            coco(annotations=[{"image_id": 9, "caption": ""}]),
            "annotations: record 1: empty reference ''",
        ),
        (
            coco(annotations=[{"image_id": 9, "caption": 5}]),
            "annotations: record 1: the reference is the number 5; expected text",
        ),
        (
            coco(annotations=[{"image_id": 9}]),
            "annotations: record 1: the reference is null; expected text",
        ),
        (
            coco(images=[{"id": 1}, {"id": 1}]),
            "images: record 2: the image id '1' occurs twice",
        ),
        (coco(images=[{}]), "images: record 1: 'id' is null; expected an id"),
        (coco(images={"id": 1}), "images: found an object; expected a list of objects"),
        ({"images": []}, "no list 'annotations'; found 'images'"),
        ([1], "found a list; expected an object with the list 'images'"),
    ],
)
def test_coco_bad_input(save, error_message, value, expected):
    path = save(value)
    assert error_message(CocoCaptions(path=path)).startswith(f"{path}: {expected}")


def test_missing_file_is_an_error_of_the_constructor(tmp_path):
    with pytest.raises(InputError, match="no such file of COCO annotations"):
        CocoCaptions(path=str(tmp_path / "none.json"))


def test_empty_references_are_accepted_on_request(save):
    value = coco(images=[{"id": 9}], annotations=[{"image_id": 9, "caption": ""}])
    assert next(iter(CocoCaptions(path=save(value), allow_empty=True))).references == (
        "",
    )


def test_fingerprint_depends_on_the_parameters(save):
    path = save(coco())
    assert (
        CocoCaptions(path=path).fingerprint() == CocoCaptions(path=path).fingerprint()
    )
    assert (
        CocoCaptions(path=path).fingerprint()
        != CocoCaptions(path=path, limit_references=1).fingerprint()
    )


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


def msrvtt():
    return {
        "info": {},
        "videos": [
            {"video_id": "video1", "split": "train", "category": 3},
            {"video_id": "video2", "split": "test", "category": 4},
        ],
        "sentences": [
            {"sen_id": 1, "video_id": "video2", "caption": "someone sings"},
            {"sen_id": 2, "video_id": "video1", "caption": "a car"},
            {"sen_id": 3, "video_id": "video2", "caption": "a song"},
        ],
    }


def test_msrvtt(save):
    path = save(msrvtt())
    item = next(iter(MsrVtt(path=path, split="test")))
    assert (item.id, item.references) == ("video2", ("someone sings", "a song"))
    assert (item.media, item.meta) == ("video2.mp4", {"category": 4, "split": "test"})
    assert [x.id for x in MsrVtt(path=path)] == ["video1", "video2"]


def test_msrvtt_bad_input(save, error_message):
    value = msrvtt()
    path = save(value)
    assert "no split 'val'; found train, test" in error_message(
        MsrVtt(path=path, split="val")
    )
    value["sentences"][0]["video_id"] = "video9"
    assert error_message(MsrVtt(path=save(value), split="test")).endswith(
        "sentences: record 1: the sentence refers to the video 'video9', "
        "which 'videos' does not list"
    )
    value["videos"][1]["video_id"] = "video1"
    assert error_message(MsrVtt(path=save(value))).endswith(
        "videos: record 2: the video id 'video1' occurs twice"
    )
    assert error_message(MsrVtt(path=save({**msrvtt(), "sentences": []}))) == (
        f"{path}: 2 of 2 videos have no references: 'video1', 'video2'"
    )


def test_media_names_have_folder_and_suffix(save):
    reader = MsrVtt(
        path=save(msrvtt()), media_root="videos/", suffix=".avi", split="train"
    )
    assert [example.media for example in reader] == ["videos/video1.avi"]
    assert (
        reader.fingerprint()
        != MsrVtt(
            path=save(msrvtt()), media_root="videos/", split="train"
        ).fingerprint()
    )


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


def test_split_names():
    assert split_names(None) == ()
    assert split_names("test") == ("test",)
    assert split_names(["train", "val"]) == ("train", "val")


def test_known_splits_pass_and_unknown_ones_are_errors():
    check_splits(("test",), ["train", None, "test"], "f")
    check_splits((), [], "f")
    with pytest.raises(
        InputError,
        match=r"^f: no split 'tset'; did you mean 'test'\?; found train, test$",
    ) as caught:
        check_splits(("train", "tset"), ["train", "test", "test"], "f")
    assert caught.value.parameter == "split" and str(caught.value).endswith(
        "found train, test"
    )
    with pytest.raises(InputError, match="no split 'test'; found none"):
        check_splits(("test",), [None], "f")


def test_fields_of_images_that_are_asked_for_are_metadata(save):
    images = [
        {"id": 9, "domain": "in", "place": {"city": "x"}},
        {"id": 3, "domain": None, "license": 1},
    ]
    path = save(coco(images=images))
    assert [x.meta for x in CocoCaptions(path=path)] == [{}, {}]
    assert [x.meta for x in CocoCaptions(path=path, meta="domain")] == [
        {"domain": "in"},
        {"domain": None},
    ]
    assert [
        x.meta for x in CocoCaptions(path=path, meta=["place.city", "license"])
    ] == [{"place": {"city": "x"}}, {"license": 1}]
    assert (
        CocoCaptions(path=path, meta=["domain"]).fingerprint()
        == CocoCaptions(path=path).fingerprint()
    )
    with pytest.raises(
        InputError, match="the images have no field 'domian'; did you mean 'domain'"
    ) as caught:
        list(CocoCaptions(path=path, meta=["domian"]))
    assert "they have id, domain, place, license" in str(caught.value)
