"""Files of a run directory: commits that a kill cuts off at any call, links,
hard links and pipes.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.rundir import run_folder
from harness.rundir.file_names import PENDING
from harness.rundir.run_folder import RunFolder

OLD = {
    "manifest.json": b"old",
    "results.json": b"old",
    "report.html": b"old",
    "candidates/a": b"old",
    "candidates/b": b"old",
}
NEW = {"manifest.json": b"new", "results.json": b"new", "candidates/a": b"new"}
NAMES = sorted(OLD)
CALLS = ("replace", "unlink", "rmdir", "fsync", "open")


ACTIONS = {
    "open": lambda run, name: run.open(name),
    "append": lambda run, name: run.append(name),
    "lock": lambda run, name: run.lock_file(name),
    "has": lambda run, name: run.has(name),
}


class Killed(BaseException):
    """The end of the process."""


@pytest.fixture
def folder(tmp_path):
    """Return a directory whose pending files replace the old ones."""
    run = RunFolder(tmp_path / "r")
    for name, data in OLD.items():
        run.write(name, data)
    for name, data in NEW.items():
        run.write(f"{PENDING}/{name}", data)
    return run


def state(run: RunFolder) -> dict[str, bytes]:
    return {name: run.read(name) for name in NAMES if run.has(name)}


def kill_at(monkeypatch, k: int) -> None:
    """Raise :class:`Killed` at call ``k`` of the functions that change a file system,
    before it happens.
    """
    count = [0]

    def killing(function):
        def call(*arguments, **keywords):
            count[0] += 1
            if count[0] == k:
                raise Killed
            return function(*arguments, **keywords)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, killing(getattr(os, name)))


def test_a_commit_that_is_cut_off_at_any_call_is_old_or_new_and_ends_new_or_old(
    folder, tmp_path, monkeypatch
):
    seen = []
    for k in range(1, 400):
        run = RunFolder(tmp_path / f"copy{k}")
        shutil.copytree(folder.path, run.path)
        with monkeypatch.context() as patch:
            kill_at(patch, k)
            try:
                run.commit(["report.html"])
                ended = True
            except Killed:
                ended = False
        committed = run.has_commit or ended or not (run.path / PENDING).exists()
        assert state(run) == (NEW if committed else OLD), (
            f"as a reader sees it after a kill at call {k}"
        )
        run.complete()
        assert state(run) == (NEW if committed else OLD), f"after a kill at call {k}"
        assert run.has_commit is False
        assert (run.path / PENDING).exists() != committed
        shutil.rmtree(run.path)
        seen.append(committed)
        if ended:
            break
    assert ended
    assert seen.count(False) > 5
    assert seen.count(True) > 20


def test_renames_that_are_cut_off_twice(folder, monkeypatch):
    for k in (50, 25, 30, 35):
        with monkeypatch.context() as patch:
            kill_at(patch, k)
            try:
                if not folder.has_commit and (folder.path / PENDING).exists():
                    folder.commit(["report.html"])
                else:
                    folder.complete()
            except Killed:
                pass
        assert folder.has_commit, "the kills strike renames"
    folder.complete()
    assert state(folder) == NEW


@pytest.fixture
def victim(tmp_path):
    file = tmp_path / "victim"
    file.write_text("mine")
    return file


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("name", ["x", "candidates/x"])
def test_a_link_is_refused_in_one_line(tmp_path, victim, action, name):
    run = RunFolder(tmp_path / "r")
    (run.path / name).parent.mkdir(parents=True)
    (run.path / name).symlink_to(victim)
    with pytest.raises(
        InputError, match=r"x: is no plain file or folder; links, devices and pipes"
    ) as caught:
        ACTIONS[action](run, name)
    assert "\n" not in str(caught.value)
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("action", [*ACTIONS, "write", "create", "remove"])
def test_a_folder_that_is_a_link_is_refused(tmp_path, victim, action):
    run = RunFolder(tmp_path / "r")
    run.path.mkdir()
    (run.path / "candidates").symlink_to(tmp_path)
    actions = {
        "write": lambda name: run.write(name, b"x"),
        "create": run.create,
        "remove": run.remove,
    }
    with pytest.raises(InputError, match="candidates: is no plain file or folder"):
        actions.get(action, lambda name: ACTIONS[action](run, name))(
            "candidates/victim"
        )
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo], ids=["file", "pipe"])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_folder_that_is_none_is_refused_without_waiting(tmp_path, action, make):
    run = RunFolder(tmp_path / "r")
    run.path.mkdir()
    make(run.path / "candidates")
    with pytest.raises(InputError, match="candidates: is no plain file or folder"):
        ACTIONS[action](run, "candidates/x")


def test_a_link_is_replaced_by_a_write_and_removed_without_its_target(tmp_path, victim):
    run = RunFolder(tmp_path / "r")
    for action in (
        lambda: run.write("x", b"new"),
        lambda: run.create("x").close(),
        lambda: run.remove("x"),
    ):
        run.remove("x")
        run.path.mkdir(exist_ok=True)
        (run.path / "x").symlink_to(victim)
        action()
        assert victim.read_text() == "mine"
        assert not (run.path / "x").is_symlink()


def test_a_pipe_or_a_folder_in_place_of_a_file_does_not_block(tmp_path):
    run = RunFolder(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        for action in ("open", "append"):
            with pytest.raises(InputError, match=f"{name}: is no plain file"):
                ACTIONS[action](run, name)


def test_a_directory_reached_through_a_link_is_used(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    RunFolder(tmp_path / "link").write("scores/x", b"data")
    assert RunFolder(tmp_path / "real").read("scores/x") == b"data"


def test_hard_links_are_read_and_become_copies_before_they_are_appended_to(
    tmp_path, victim
):
    run = RunFolder(tmp_path / "r")
    run.path.mkdir()
    os.link(victim, run.path / "log")
    assert run.read("log") == b"mine"
    with run.append("log") as file:
        file.write(b" and more")
    assert victim.read_text() == "mine"
    assert run.read("log") == b"mine and more"


def test_a_file_of_one_name_is_appended_to_in_its_place(tmp_path):
    run = RunFolder(tmp_path)
    run.write("log", b"one")
    before = (tmp_path / "log").stat().st_ino
    with run.append("log") as file:
        file.write(b" and more")
    assert (
        run.read("log") == b"one and more"
        and (tmp_path / "log").stat().st_ino == before
    )


def test_missing_folders_are_made_by_writing_alone(tmp_path):
    run = RunFolder(tmp_path / "a" / "r")
    run.remove("scores/x")
    assert run.names() == run.names("scores") == []
    assert not run.has("scores/x")
    assert not run.path.parent.exists()
    run.write("one/x", b"")
    run.create("two/x").close()
    run.append("three/x").close()
    assert run.names() == ["one", "three", "two"]


def test_a_file_for_a_lock_is_created_and_keeps_its_content(tmp_path):
    run = RunFolder(tmp_path)
    with run.lock_file(".lock") as file:
        file.write(b"owner")
    with run.lock_file(".lock") as file:
        assert file.read() == b"owner"


def test_check_accepts_the_files_of_a_run_and_the_folder_of_a_commit_alone(tmp_path):
    run = RunFolder(tmp_path)
    names = {".lock", ".next", "results.json"}
    for name in (".lock", "results.json", ".next/results.json"):
        run.write(name, b"")
    run.check(names, {"scores"})
    run.remove(".next")
    run.write(".next", b"")
    with pytest.raises(InputError, match=r"\.next: is no plain file or folder"):
        run.check(names, {"scores"})


def test_check_names_the_link(tmp_path, victim):
    run = RunFolder(tmp_path / "r")
    run.write("scores/x", b"")
    (run.path / "notes").symlink_to(victim)
    run.check({"log.jsonl"}, {"scores"})
    (run.path / "scores" / "y").symlink_to(victim)
    with pytest.raises(InputError, match="scores/y: is no plain file"):
        run.check({"log.jsonl"}, {"scores"})


def test_check_refuses_a_folder_in_place_of_a_file(tmp_path):
    run = RunFolder(tmp_path / "r")
    run.write("shards.json/x", b"")
    with pytest.raises(InputError, match="shards.json: is no plain file"):
        run.check({"shards.json"}, {"scores"})


@pytest.mark.parametrize("name", [".next/results.json", ".next/scores/x.npz"])
def test_check_refuses_a_folder_in_place_of_a_file_that_waits_for_its_rename(
    tmp_path, name
):
    run = RunFolder(tmp_path / "r")
    run.write(".next/scores/y.npz", b"")
    run.check({"results.json"}, {"scores"})
    run.write(f"{name}/inner.txt", b"mine")
    with pytest.raises(InputError, match=f"{name}: is no plain file"):
        run.check({"results.json"}, {"scores"})


def test_files_have_the_usual_mode(tmp_path):
    run = RunFolder(tmp_path / "r")
    before = os.umask(0)
    try:
        run.write("written", b"x")
        run.create("created").close()
        run.append("appended").close()
    finally:
        os.umask(before)
    assert {
        oct((run.path / name).stat().st_mode & 0o777)
        for name in ("written", "created", "appended")
    } == {"0o666"}


def test_a_link_that_appears_while_a_file_is_created_is_not_followed(
    tmp_path, monkeypatch
):
    def find_nothing(name, dir_fd):
        raise FileNotFoundError

    (tmp_path / "name").symlink_to(tmp_path / "victim")
    monkeypatch.setattr(run_folder.os, "unlink", find_nothing)
    with (
        RunFolder(tmp_path)._enter(".") as (descriptor, _),
        pytest.raises(FileExistsError),
    ):
        run_folder._create(descriptor, "name")
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_full_disk_names_the_file_and_not_its_temporary_name(
    tmp_path, monkeypatch, call
):
    def fail(*arguments, **keywords):
        raise OSError(
            errno.ENOSPC,
            os.strerror(errno.ENOSPC),
            *(arguments[:1] if call == "replace" else ()),
        )

    if call == "write":
        monkeypatch.setattr(
            run_folder,
            "_create",
            lambda folder, name: os.open("/dev/full", os.O_WRONLY),
        )
    else:
        monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left on device") as raised:
        RunFolder(tmp_path).write("results.json", b"x")
    assert raised.value.filename == str(tmp_path / "results.json")


def test_a_name_that_no_file_can_have_is_no_file(tmp_path):
    """Names of statistics come from results.json, which may be of somebody else."""
    folder = RunFolder(tmp_path)
    assert not folder.has("x" * 500 + ".npz")
    with pytest.raises(FileNotFoundError):
        folder.read("x" * 500)
