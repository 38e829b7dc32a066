"""Images by the ids of examples."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.image_names import ImageFolder


@pytest.fixture
def folder(tmp_path):
    for name in (
        "COCO_val2014_000000391895.jpg",
        "000000000007.png",
        "video12.webp",
        "dog.PNG",
        "note.txt",
    ):
        (tmp_path / name).write_bytes(b"")
    return ImageFolder(tmp_path)


@pytest.mark.parametrize(
    ("example", "name", "manner"),
    [
        ("391895", "COCO_val2014_000000391895.jpg", "number"),
        ("7", "000000000007.png", "number"),
        ("007", "000000000007.png", "number"),
        ("12", "video12.webp", "number"),
        ("video12", "video12.webp", "stem"),
        ("dog", "dog.PNG", "stem"),
        ("000000000007.png", "000000000007.png", "name"),
    ],
)
def test_an_id_is_a_name_a_stem_or_a_number(folder, example, name, manner):
    file, found = folder.find(example)
    assert (file.name, found) == (name, manner)


@pytest.mark.parametrize("example", ["8", "cat", "note", "91895", ""])
def test_another_id_is_an_error(folder, example):
    with pytest.raises(InputError, match=f"no image of the example '{example}'"):
        folder.find(example)


def test_two_images_of_one_id_are_refused(tmp_path):
    for name in ("a_0012.jpg", "b_12.jpg", "dog.jpg", "dog.png"):
        (tmp_path / name).write_bytes(b"")
    for example in ("12", "dog"):
        with pytest.raises(InputError, match="2 images are of the example"):
            ImageFolder(tmp_path).find(example)


def test_a_folder_without_images_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no images in the folder"):
        ImageFolder(tmp_path)
    with pytest.raises(InputError, match="the folder of images cannot be read"):
        ImageFolder(tmp_path / "none")
