"""The record of outputs, and the file that takes the place of another."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.files.outputs import (
    OUTPUTS,
    check_output,
    is_unchanged_output,
    write_output,
    write_outputs,
)


def lines(folder: Path) -> list[str]:
    return (folder / OUTPUTS).read_text("utf-8").splitlines()


def test_every_content_has_one_line(tmp_path):
    for data in (b"1", b"2", b"1"):
        write_output(tmp_path / "a.txt", data, overwrite=False)
    assert lines(tmp_path) == [
        f"{hashlib.sha256(data).hexdigest()}  a.txt" for data in (b"1", b"2")
    ]
    assert (tmp_path / "a.txt").read_bytes() == b"1"


def test_a_file_of_the_same_content_is_taken_over(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1")
    assert not is_unchanged_output(tmp_path / "a.txt")
    write_output(tmp_path / "a.txt", b"1", overwrite=False)
    assert is_unchanged_output(tmp_path / "a.txt")


def test_an_output_of_another_name_is_no_output(tmp_path):
    write_output(tmp_path / "a.txt", b"1", overwrite=False)
    (tmp_path / "b.txt").write_bytes(b"1")
    with pytest.raises(InputError, match="is there already"):
        write_output(tmp_path / "b.txt", b"2", overwrite=False)
    assert (tmp_path / "b.txt").read_bytes() == b"1"


def test_files_of_a_folder_have_one_record(tmp_path):
    files = [(tmp_path / "b.txt", b"1"), (tmp_path / "inner" / "a\\b\n.txt", b"2")]
    assert write_outputs(iter(files), overwrite=False, folder=tmp_path) == [
        path for path, _ in files
    ]
    assert [line[66:] for line in lines(tmp_path)] == ["b.txt", "inner/a\\\\b\\n.txt"]
    assert not (tmp_path / "inner" / OUTPUTS).exists()
    assert all(is_unchanged_output(path, tmp_path) for path, _ in files)
    assert write_outputs([(files[1][0], b"3")], overwrite=False, folder=tmp_path)


def test_a_torn_line_and_other_text_do_not_disturb(tmp_path):
    (tmp_path / OUTPUTS).write_bytes(b"\xff\n0123")
    write_output(tmp_path / "a.txt", b"1", overwrite=False)
    assert is_unchanged_output(tmp_path / "a.txt")
    assert (tmp_path / OUTPUTS).read_bytes().startswith(b"\xff\n0123\n")


def test_a_record_that_is_a_link_or_a_pipe_is_refused(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / OUTPUTS).symlink_to("mine")
    with pytest.raises(InputError, match="is no plain file"):
        write_output(tmp_path / "a.txt", b"1", overwrite=False)
    (tmp_path / OUTPUTS).unlink()
    os.mkfifo(tmp_path / OUTPUTS)
    with pytest.raises(InputError, match="is no plain file"):
        write_output(tmp_path / "a.txt", b"1", overwrite=False)
    assert (tmp_path / "mine").read_text() == "mine" and not (
        tmp_path / "a.txt"
    ).exists()


def test_a_name_that_is_no_file_is_refused_with_overwrite_too(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, message in (("folder", "is a folder"), ("pipe", "is a device or a pipe")):
        with pytest.raises(InputError, match=message):
            check_output(tmp_path / name, overwrite=True)
    check_output(tmp_path / "none", overwrite=False)


def test_several_writers_of_a_folder_lose_no_line(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda k: write_output(tmp_path / f"{k}.txt", b"1", overwrite=False),
                range(40),
            )
        )
    assert len(lines(tmp_path)) == 40
    assert all(is_unchanged_output(tmp_path / f"{k}.txt") for k in range(40))


def test_an_error_leaves_the_file_and_names_it(tmp_path, monkeypatch):
    write_output(tmp_path / "a.txt", b"1", overwrite=False)
    monkeypatch.setattr(
        os,
        "replace",
        lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_output(tmp_path / "a.txt", b"2", overwrite=False)
    assert caught.value.filename == str(tmp_path / "a.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == [OUTPUTS, "a.txt"]
    monkeypatch.undo()
    write_output(tmp_path / "a.txt", b"3", overwrite=False)
    assert (tmp_path / "a.txt").read_bytes() == b"3"
