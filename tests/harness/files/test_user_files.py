"""Users' files: paths that are checked, bytes, fingerprints."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.files.strict_json import load_json
from harness.files.user_files import existing, fingerprint, first_byte


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def message(call, *args) -> str:
    with pytest.raises(InputError) as caught:
        result = call(*args)
        if not isinstance(result, (dict, list, Path)):
            list(result)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_file_names_the_nearest(tmp_path):
    write(tmp_path / "captions_val2014.json", "{}")
    text = message(
        existing,
        str(tmp_path / "captions_val2041.json"),
        "file of COCO annotations",
    )
    assert text == (
        f"{tmp_path}/captions_val2041.json: no such file of COCO annotations; "
        "did you mean 'captions_val2014.json'?"
    )


def test_path_errors_name_the_parameter(tmp_path):
    write(tmp_path / "captions.json", "{}")
    with pytest.raises(InputError) as caught:
        existing(tmp_path / "caption.json", parameter="corpus")
    error = caught.value
    assert (error.parameter, error.value) == ("corpus", str(tmp_path / "caption.json"))
    assert "did you mean 'captions.json'?" in str(error)


def test_folders_are_refused(tmp_path):
    assert (
        message(existing, str(tmp_path)) == f"{tmp_path}: is a folder; expected a file"
    )


def test_path_of_another_type():
    assert message(existing, None) == "the path of the file is None; expected text"


def test_truncated_gzip(tmp_path):
    path = write(
        tmp_path / "a.json.gz",
        gzip.compress(json.dumps(list(range(5000))).encode())[:-200],
    )
    assert message(load_json, path).startswith(
        f"{path}: the gzip file is broken or cut off: "
    )


def test_first_byte(tmp_path):
    for content, expected in (("  [1]", b"["), ('\n{"a": 1}', b"{"), ("", b"")):
        assert first_byte(write(tmp_path / "a", content)) == expected


def test_fingerprint_depends_on_content_and_parameters(tmp_path):
    path = write(tmp_path / "a.json", "[1]")
    first = fingerprint("coco", [path], {"k": 1})
    assert first == fingerprint("coco", [path], {"k": 1})
    assert first != fingerprint("coco", [path], {"k": 2})
    write(path, "[2]")
    assert first != fingerprint("coco", [path], {"k": 1})


def test_the_fingerprint_of_a_folder_covers_json_files_below(tmp_path):
    (tmp_path / "game").mkdir()
    (tmp_path / "a.txt").write_text("a dog")
    flat = fingerprint("f", [tmp_path], {})
    (tmp_path / "game" / "video.mkv").write_bytes(b"1")
    assert fingerprint("f", [tmp_path], {}) == flat
    (tmp_path / "game" / "labels.json").write_text("{}")
    nested = fingerprint("f", [tmp_path], {})
    (tmp_path / "game" / "labels.json").write_text("[]")
    assert len({flat, nested, fingerprint("f", [tmp_path], {})}) == 3
