"""Folders that are written whole or not at all, also where the process is killed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.files.whole_folder import (
    hold_temporary,
    is_left_over,
    remove_left_overs,
    temporary_folder,
    temporary_name,
    whole_file,
    whole_folder,
)


def gone() -> int:
    """Return the number of a process that has ended."""
    return int(
        subprocess.run(
            [sys.executable, "-c", "import os; print(os.getpid())"],
            capture_output=True,
            check=True,
        ).stdout
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "before", [None, {}, {"old.txt": "old"}], ids=["absent", "empty", "full"]
)
def test_a_folder_takes_its_place_whole(tmp_path, before):
    target = tmp_path / "a" / "out"
    if before is not None:
        target.mkdir(parents=True)
        for name, text in before.items():
            (target / name).write_text(text)
    with whole_folder(target) as folder:
        (folder / "new.txt").write_text("new")
        assert not (target / "new.txt").exists()
    assert names(target) == ["new.txt"] and names(tmp_path / "a") == ["out"]


def test_an_error_leaves_the_folder_as_it_was(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")
    with pytest.raises(OSError, match="full"), whole_folder(tmp_path / "out") as folder:
        (folder / "new.txt").write_text("new")
        raise OSError("full")
    assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["old.txt"]


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    process = gone()
    for name in (
        f".out.{process}.tmp",
        f".out.old.{process}.tmp",
        f".other.{process}.tmp",
        f".out.{os.getpid()}x.tmp",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "torn").write_text("torn")
    with whole_folder(tmp_path / "out") as folder:
        (folder / "new.txt").write_text("new")
    assert names(tmp_path) == [
        f".other.{process}.tmp",
        f".out.{os.getpid()}x.tmp",
        "out",
    ]


def test_a_left_over_that_another_process_holds_stays(tmp_path):
    left = tmp_path / f".out.{gone()}.tmp"
    left.write_text("written by a process of another machine")
    with open(left, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        remove_left_overs(tmp_path, ["out"])
        assert left.exists()
    remove_left_overs(tmp_path, ["out"])
    assert not left.exists()


def test_a_writer_holds_its_file_and_folder(tmp_path):
    with whole_file(tmp_path / "a.txt") as file, whole_folder(tmp_path / "b") as folder:
        file.write(b"1")
        for path in (tmp_path / temporary_name("a.txt"), folder):
            descriptor = os.open(path, os.O_RDONLY)
            assert not hold_temporary(descriptor)
            os.close(descriptor)
    assert names(tmp_path) == ["a.txt", "b"]


def test_a_file_of_a_running_process_and_a_link_are_not_followed(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").write_text("mine")
    link = tmp_path / f".r.json.{gone()}.tmp"
    link.symlink_to(tmp_path / "mine")
    running = tmp_path / temporary_name("r.json")
    running.write_text("running")
    remove_left_overs(tmp_path, ["r.json"])
    assert (
        names(tmp_path) == sorted([running.name, "mine"])
        and (tmp_path / "mine" / "kept").exists()
    )
    assert not is_left_over(".r.json.99999999999999999999999x.tmp", ["r.json"])
    assert is_left_over(".r.json.99999999999999999999999.tmp", ["r.json"])


def test_what_a_killed_process_of_the_same_number_left_is_removed(tmp_path):
    left = tmp_path / temporary_name("out")
    left.mkdir()
    (left / "torn").write_text("torn")
    with whole_folder(tmp_path / "out") as folder:
        (folder / "new.txt").write_text("new")
    assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["new.txt"]


def test_a_temporary_folder_is_removed_with_what_is_still_in_it(tmp_path):
    with temporary_folder(tmp_path / "out") as folder:
        (folder / "moved").write_text("moved")
        (folder / "left").write_text("left")
        os.replace(folder / "moved", tmp_path / "moved")
    assert names(tmp_path) == ["moved"]


def test_files_and_names_are_on_the_disk_before_the_folder_takes_its_place(
    tmp_path, monkeypatch
):
    synced: list[str] = []
    real_fsync = os.fsync
    real_replace = os.replace

    def fsync(descriptor):
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        real_fsync(descriptor)

    def replace(old, new):
        synced.append("rename")
        real_replace(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    with whole_folder(tmp_path / "out") as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "a").write_text("a")
        (folder / "b").write_text("b")
    assert synced == ["a", "inner", "b", temporary_name("out"), "rename", tmp_path.name]
