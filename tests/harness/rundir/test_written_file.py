"""Files that are written in parts."""

from __future__ import annotations

import os

import pytest

from harness.rundir.commit_file import FileStamp
from harness.rundir.run_folder import RunFolder
from harness.rundir.written_file import NamedFile


def test_the_stamp_of_a_file_that_is_written_in_parts_is_that_of_its_content(tmp_path):
    run = RunFolder(tmp_path)
    with run.create("samples.parquet") as file:
        assert file.write(b"one") == 3
        assert file.write(memoryview(b"two!")) == 4
        assert file.tell() == 7
    assert run.read("samples.parquet") == b"onetwo!"
    assert file.stamp == FileStamp.of(b"onetwo!")


def test_a_full_disk_names_a_file_that_is_written_in_parts(tmp_path):
    with pytest.raises(OSError, match="No space left on device") as raised:
        NamedFile(os.open("/dev/full", os.O_WRONLY), "w", tmp_path / "log.jsonl").write(
            b"x"
        )
    assert raised.value.filename == str(tmp_path / "log.jsonl")
