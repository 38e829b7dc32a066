"""The tests of a mutant in a process of their own."""

import time
from pathlib import Path

import pytest

from tools.mutants.processes import run_tests

LEAVES_A_PROCESS = """
import os, subprocess

def test_it():
    process = subprocess.Popen(["sleep", "600"])
    open(os.environ["PID_FILE"], "w").write(str(process.pid))
"""


def is_running(pid: int) -> bool:
    """Return False for a process that has ended,
    also where nobody has asked for its status.
    """
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_processes_that_a_test_leaves_are_ended(tmp_path, monkeypatch):
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))
    (tmp_path / "test_leaves.py").write_text(LEAVES_A_PROCESS)
    assert (
        run_tests([str(tmp_path / "test_leaves.py")], 60, None, tmp_path / "scratch")
        == 0
    ), (tmp_path / "scratch.txt").read_text()
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 20
    # a signal takes effect some time after it was sent
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(pid)
