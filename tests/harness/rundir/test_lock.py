"""The lock of a run directory."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from types import FrameType
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.rundir import lock
from harness.rundir.lock import Owner, RunLock
from harness.rundir.run_folder import RunFolder

HOLD = (
    "import sys; from pathlib import Path; from harness.rundir.lock import RunLock; "
    "RunLock(Path(sys.argv[1])).acquire()"
)
TAKE_TURNS = """
import sys, time
from pathlib import Path
from harness.errors import HarnessError
from harness.rundir.lock import RunLock
folder, turns = Path(sys.argv[1]), 0
while turns < 200:
    lock = RunLock(folder)
    try:
        lock.acquire()
    except HarnessError:
        continue
    with open(folder / "inside", "x"):
        pass
    (folder / "inside").unlink()
    lock.release()
    turns += 1
"""


def test_one_holder_at_a_time(tmp_path):
    lock = RunLock(tmp_path)
    lock.acquire()
    with pytest.raises(
        HarnessError,
        match=rf"another process is writing this run \(process {os.getpid()} on ",
    ):
        RunLock(tmp_path).acquire()
    assert (tmp_path / ".lock").exists(), (
        "a process without the lock does not remove it"
    )
    lock.release()
    assert not (tmp_path / ".lock").exists()
    RunLock(tmp_path).acquire()


def test_a_second_release_does_nothing(tmp_path):
    lock = RunLock(tmp_path)
    lock.release()
    lock.acquire()
    lock.release()
    lock.release()


def test_the_lock_of_a_process_that_ended_is_free(tmp_path):
    subprocess.run([sys.executable, "-c", HOLD, str(tmp_path)], check=True)
    assert (tmp_path / ".lock").exists()
    RunLock(tmp_path).acquire()


def test_a_process_of_another_user_is_not_gone(monkeypatch):
    def refuse(pid, signal):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert not replace(Owner.this(), pid=1).is_gone()


def test_a_process_is_asked_for_without_a_signal():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert not replace(Owner.this(), pid=process.pid).is_gone()
    assert process.returncode == 0


def test_a_file_that_was_replaced_before_it_was_locked_is_opened_again(
    tmp_path, monkeypatch
):
    first = RunLock(tmp_path)
    flock = fcntl.flock
    calls = []
    first.acquire()

    def late(file, operation):
        if not calls:
            first.release()  # between the open and the flock of the second
            (tmp_path / ".lock").touch()
        calls.append(file)
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    second = RunLock(tmp_path)
    second.acquire()
    assert len(calls) == 2
    assert os.path.samestat(os.fstat(calls[1]), os.stat(tmp_path / ".lock"))
    with pytest.raises(HarnessError):
        RunLock(tmp_path).acquire()


@pytest.mark.slow
def test_processes_that_take_turns_are_never_inside_together(tmp_path):
    command = [sys.executable, "-c", TAKE_TURNS, str(tmp_path)]
    with ThreadPoolExecutor(3) as pool:
        ends = list(
            pool.map(
                lambda _: subprocess.run(
                    command, capture_output=True, text=True, check=False
                ),
                range(3),
            )
        )
    assert [end.returncode for end in ends] == [0, 0, 0], (
        ends[0].stderr + ends[1].stderr + ends[2].stderr
    )


@pytest.mark.parametrize(
    ("change", "free"),
    [
        ({}, True),
        ({"pid": 2**22 + 1}, True),
        ({"boot": "", "pid": 1}, lock._BOOT_ID.is_file()),
        ({"boot": " "}, True),
        ({"boot": "~"}, True),
        ({"pid": 1}, False),
        *(
            ({"host": host, "pid": 2**22 + 1}, False)
            for host in ("elsewhere", " ", "~")
        ),
    ],
)
def test_without_flock_the_file_is_the_lock(tmp_path, monkeypatch, change, free):
    def unsupported(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (tmp_path / ".lock").write_text(json.dumps(asdict(replace(Owner.this(), **change))))
    if free:
        RunLock(tmp_path).acquire()
        assert Owner.read(RunFolder(tmp_path)) == Owner.this()
    else:
        with pytest.raises(HarnessError, match="another process is writing this run"):
            RunLock(tmp_path).acquire()


def test_a_file_that_was_removed_meanwhile_is_not_the_lock_and_its_successor_stays(
    tmp_path,
):
    path = tmp_path / ".lock"
    with path.open("w+b", buffering=0) as file:
        path.unlink()
        path.write_bytes(b"of another process")
        assert RunLock(tmp_path)._lock_file(file) is None
    assert path.read_bytes() == b"of another process"


def test_a_lock_file_with_two_names_becomes_a_file_of_its_own(tmp_path):
    for name in ("copied", "copy"):
        (tmp_path / name).mkdir()
    (tmp_path / "copied/.lock").write_bytes(b"of the copied run")
    os.link(tmp_path / "copied/.lock", tmp_path / "copy/.lock")
    RunLock(tmp_path / "copy").acquire()
    assert (tmp_path / "copied/.lock").read_bytes() == b"of the copied run"


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[1]", b'{"host": 1}'])
def test_a_lock_file_without_an_owner_is_free(tmp_path, content):
    (tmp_path / ".lock").write_bytes(content)
    assert Owner.read(RunFolder(tmp_path)) is None
    RunLock(tmp_path).acquire()


@pytest.mark.parametrize(("size", "is_read"), [(4096, True), (4097, False)])
def test_a_lock_file_is_read_up_to_four_kilobytes(tmp_path, size, is_read):
    owner = Owner("host", "boot", 7)
    text = json.dumps(asdict(owner))
    (tmp_path / ".lock").write_text("{" + " " * (size - len(text)) + text[1:])
    assert Owner.read(RunFolder(tmp_path)) == (owner if is_read else None)


def test_an_interrupt_at_any_instruction_leaves_no_lock(tmp_path):
    def hold_and_release() -> None:
        lock = RunLock(tmp_path)
        try:
            lock.acquire()
        except HarnessError as error:
            raise AssertionError(f"after {count} instructions: {error}") from None
        lock.release()

    interrupted = True
    count = 0
    left = 0
    while interrupted:

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.endswith("rundir/lock.py"):
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
            return trace

        count = count + 1
        interrupted = False
        left = count
        before = sys.gettrace()
        # Python 3.12 has events of instructions where a frame asks before the tracing
        sys._getframe().f_trace_opcodes = True
        sys.settrace(trace)
        try:
            hold_and_release()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(before)
        hold_and_release()
    assert count > 100
