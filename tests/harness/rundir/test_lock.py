"""The lock of a run directory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.errors import HarnessError
from harness.rundir.lock import RunLock

HOLD = "import sys; from pathlib import Path; from harness.rundir.lock import RunLock; RunLock(Path(sys.argv[1])).acquire()"


def test_one_holder_at_a_time(tmp_path):
    lock = RunLock(tmp_path)
    lock.acquire()
    with pytest.raises(HarnessError, match="another process is writing this run"):
        RunLock(tmp_path).acquire()
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
