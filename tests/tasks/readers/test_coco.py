"""The ``coco`` reader."""

from __future__ import annotations

import pytest

from harness.contracts import Reader
from harness.errors import InputError
from harness_tasks.readers.coco import CocoCaptions


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
