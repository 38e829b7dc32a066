"""A commit that a kill cut off is carried out under the lock, or nothing is changed."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError, InputError
from harness.rundir.lock import RunLock
from harness.rundir.rundir import RunDir
from harness.rundir.unfinished import complete_unfinished
from tests.support.run_directories import create, cut_off_commit, files_of, finish


def test_opening_a_run_reads_a_commit_that_was_cut_off_and_a_writer_carries_it_out(
    tmp_path,
):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    cut_off_commit(run, "report.html", b"new")
    before = files_of(tmp_path / "r")
    assert RunDir.open(tmp_path / "r").folder.read("report.html") == b"new"
    assert files_of(tmp_path / "r") == before
    complete_unfinished(tmp_path / "r")
    assert (tmp_path / "r" / "report.html").read_bytes() == b"new"
    assert not (tmp_path / "r" / "commit.json").exists()


def test_a_file_that_is_not_the_one_of_the_commit_is_not_moved(tmp_path):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    cut_off_commit(run, "report.html", b"new")
    run.folder.write(".next/report.html", b"torn")
    before = files_of(tmp_path / "r")
    with pytest.raises(
        InputError,
        match=r"\.next/report\.html: is damaged: it is not the file that commit\.json "
        r"names",
    ):
        complete_unfinished(tmp_path / "r")
    assert files_of(tmp_path / "r") == before


def test_files_that_the_commit_removes_are_gone(tmp_path):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    run.folder.write("comparisons.json", b"old")
    cut_off_commit(run, "report.html", b"new", ["comparisons.json"])
    complete_unfinished(tmp_path / "r")
    assert not (tmp_path / "r" / "comparisons.json").exists()
    after = files_of(tmp_path / "r")
    assert after["report.html"] == b"new"
    complete_unfinished(tmp_path / "r")
    assert files_of(tmp_path / "r") == after


def test_nothing_is_done_without_a_commit_or_a_run(tmp_path, monkeypatch):
    def refuse(lock):
        raise AssertionError("the lock is taken")

    monkeypatch.setattr(RunLock, "acquire", refuse)
    complete_unfinished(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()
    commit = b'{"moved": {}, "removed": []}'
    (tmp_path / "commit.json").write_bytes(commit)
    complete_unfinished(tmp_path)  # no manifest
    assert files_of(tmp_path) == {"commit.json": commit}


def test_the_lock_is_given_back_after_an_error(tmp_path):
    finish(create(tmp_path / "r"))
    cut_off_commit(RunDir.open(tmp_path / "r"), "report.html", b"new")
    (tmp_path / "r" / ".next" / "report.html").write_bytes(b"torn")
    with pytest.raises(InputError, match="is damaged"):
        complete_unfinished(tmp_path / "r")
    (tmp_path / "r" / ".next" / "report.html").write_bytes(b"new")
    complete_unfinished(tmp_path / "r")
    assert (tmp_path / "r" / "report.html").read_bytes() == b"new"


def test_a_run_that_another_process_writes_is_left(tmp_path):
    finish(create(tmp_path / "r"))
    cut_off_commit(RunDir.open(tmp_path / "r"), "report.html", b"new")
    lock = RunLock(tmp_path / "r")
    lock.acquire()
    try:
        with pytest.raises(HarnessError, match="another process"):
            complete_unfinished(tmp_path / "r")
    finally:
        lock.release()
    assert (tmp_path / "r" / "commit.json").exists()
    assert not (tmp_path / "r" / "report.html").exists()


def test_a_link_in_the_directory_is_refused(tmp_path):
    finish(create(tmp_path / "r"))
    cut_off_commit(RunDir.open(tmp_path / "r"), "report.html", b"new")
    (tmp_path / "outside").write_bytes(b"mine")
    (tmp_path / "r" / "report.html").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="report.html"):
        complete_unfinished(tmp_path / "r")
    assert (tmp_path / "outside").read_bytes() == b"mine"
