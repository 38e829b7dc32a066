"""Examples of the images of a folder that files of captions are about."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness_tasks.readers.image_folder import CaptionedImages


@pytest.fixture
def files(tmp_path):
    """A folder with two images, and a file of captions of each by number and name."""
    folder = tmp_path / "val2014"
    folder.mkdir()
    for name in ("COCO_val2014_000000000042.jpg", "green.png"):
        (folder / name).write_bytes(name.encode())
    rows = {"42": ["a dog"], "green": ["grass"]}
    (tmp_path / "c.json").write_text(json.dumps(rows))
    return folder, tmp_path / "c.json"


def test_each_id_of_the_captions_is_an_example_with_its_image(files):
    folder, captions = files
    reader = CaptionedImages(path=str(folder), captions=str(captions))
    assert [(e.id, e.references, e.media) for e in reader] == [
        ("42", (), str(folder / "COCO_val2014_000000000042.jpg")),
        ("green", (), str(folder / "green.png")),
    ]
    assert len(reader) == 2
    (reading,) = reader.readings()
    assert "number (1)" in reading.remarks[0] and "'42' is" in reading.remarks[0]


def test_ids_of_several_files_are_joined(files, tmp_path):
    folder, captions = files
    (tmp_path / "d.json").write_text(json.dumps({"green": ["a lawn"]}))
    paths = [str(tmp_path / "d.json"), str(captions)]
    reader = CaptionedImages(path=str(folder), captions=paths)
    assert [example.id for example in reader] == ["green", "42"]


def test_the_fingerprint_changes_with_an_image(files):
    folder, captions = files

    def fingerprint():
        return CaptionedImages(path=str(folder), captions=str(captions)).fingerprint()

    before = fingerprint()
    assert fingerprint() == before
    (folder / "green.png").write_bytes(b"another image")
    assert fingerprint() != before


def test_an_id_without_image_or_with_two_and_a_file_without_captions_are_one_line(
    files, tmp_path
):
    folder, captions = files
    (tmp_path / "d.json").write_text(json.dumps({"blue": ["the sky"]}))
    with pytest.raises(InputError, match="no image of the example 'blue'"):
        CaptionedImages(path=str(folder), captions=str(tmp_path / "d.json"))
    (folder / "COCO_train2014_000000000042.jpg").write_bytes(b"another")
    with pytest.raises(InputError, match="42"):
        CaptionedImages(path=str(folder), captions=str(captions))
