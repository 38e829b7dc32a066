"""The file of shards of a run directory."""

from __future__ import annotations

import pytest

from harness.rundir.run_folder import RunFolder
from harness.rundir.shard_file import ShardFile


@pytest.fixture
def file(tmp_path):
    return ShardFile(RunFolder(tmp_path), "shards.json")


def test_what_is_written_is_read(file):
    assert file.read() is None
    file.write(5, examples=12)
    assert file.read() == {"size": 5, "examples": 12}


def test_a_file_that_has_the_same_values_is_not_written_again(file):
    file.write(5, examples=12)
    before = (file.folder.path / "shards.json").stat().st_ino
    file.write(5, examples=12)
    assert (file.folder.path / "shards.json").stat().st_ino == before


@pytest.mark.parametrize(
    ("size", "expected"), [(1, {"size": 1}), (0, None), (-1, None), (2.5, None)]
)
def test_the_size_of_shards_is_a_whole_number_from_1_on(file, size, expected):
    file.write(size)
    assert file.read() == expected


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
