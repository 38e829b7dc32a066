"""Results that are kept beside those of a run."""

from __future__ import annotations

import json

import pytest

from harness.rundir.artifact_key import content_digest
from harness.rundir.kept_file import KeptFile


def test_kept_rows_are_read_under_their_key_alone(tmp_path, caplog):
    path = tmp_path / "rows.json"
    assert KeptFile(path, "key").read() is None
    KeptFile(path, "key").write(3, [[1, 0.5], [2, None]])
    assert KeptFile(path, "key").read() == [[1, 0.5], [2, None]]
    assert [KeptFile(path, other).read() for other in ("kex", "kez")] == [None, None]
    assert KeptFile(None, "key").read() is None
    assert not caplog.messages, "an absent file and one of another key are no damage"
    assert json.loads(path.read_bytes()) | {"sha256": ""} == {
        "schema": 3,
        "key": "key",
        "sha256": "",
        "rows": [[1, 0.5], [2, None]],
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[1]",
        b'{"key": "key", "rows": [1]}',
        *(
            b'{"key": "key", "rows": [1], "sha256": "%s"}' % (digit * 64)
            for digit in (b"0", b"f")
        ),
    ],
)
def test_damaged_kept_rows_are_none_and_logged(tmp_path, caplog, content):
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    assert KeptFile(path, "key").read() is None
    assert caplog.messages == [f"{path} is damaged; its content is computed again"]


def test_a_kept_file_without_rows_has_none(tmp_path):
    (tmp_path / "rows.json").write_text(
        json.dumps({"key": "key", "sha256": content_digest(None)})
    )
    assert KeptFile(tmp_path / "rows.json", "key").read() is None


def test_a_directory_that_cannot_be_written_keeps_no_file(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder")
    kept = KeptFile(tmp_path / "file" / "rows.json", "key")
    with caplog.at_level("INFO", logger="harness"):
        kept.write(1, [1, 2])
    assert "rows.json is not kept" in caplog.text and kept.read() is None
    KeptFile(None, "key").write(1, [1])
