"""The file of the shards of a run."""

from __future__ import annotations

import pytest

from harness.rundir.run_folder import RunFolder
from harness.rundir.shards import ShardFile


@pytest.fixture
def file(tmp_path):
    return ShardFile(RunFolder(tmp_path), "shards.json")


def test_what_is_written_is_read(file):
    assert file.read() is None
    file.write(5, examples=12)
    assert file.read() == {"size": 5, "examples": 12}


def test_a_complete_part_stays_complete_with_the_same_shards_alone(file):
    file.write(5, examples=12, finished=True)
    file.write(5, examples=12)
    assert file.read() == {"size": 5, "examples": 12, "finished": True}
    file.write(6, examples=12)
    assert file.read() == {"size": 6, "examples": 12}


def test_a_damaged_file_is_none(file):
    file.write(5, examples=12)
    whole = file.folder.read("shards.json")
    for torn in (b"", whole[:9], whole.replace(b"5", b"7", 1), b"[]", b"{}"):
        file.folder.write("shards.json", torn)
        assert file.read() is None
