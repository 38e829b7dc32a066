"""The preloaded library: it counts the calls below a folder alone, also those below
Python, and strikes at the chosen one.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.soak.shim import build

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, os, sys
from pathlib import Path
from tools.soak.shim import Fault, SharedPage, arm

folder, kind, number, task, mark = sys.argv[1:6]
below = Path(folder)
at = int(number)
page = SharedPage()
child = os.fork()
if child == 0:
    code = 0
    os.chdir(below)
    if task == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq
    arm(below, Fault(kind, at, mark), page)
    try:
        if task == "parquet":
            pq.write_table(pa.table({"a": [1, 2]}), "t.parquet")
        else:
            folder = os.open(".", os.O_RDONLY)
            file = os.open("a", os.O_WRONLY | os.O_CREAT, dir_fd=folder)       # 0
            os.write(file, b"12345678")                                        # 1
            os.fsync(file)                                                     # 2
            os.rename("a", "b", src_dir_fd=folder, dst_dir_fd=folder)          # 3
            open(below.parent / "beside", "w").write("not counted")
            os.mkdir("c")                                                      # 4
            os.unlink("b")                                                     # 5
    except OSError as error:
        code = error.errno
    os._exit(code)
_, status = os.waitpid(child, os.WUNTRACED)
if os.WIFSTOPPED(status):
    os.kill(child, 9)
    os.waitpid(child, 0)
stopped = os.WIFSTOPPED(status)
end = "stopped" if stopped else os.waitstatus_to_exitcode(status)
print(json.dumps([end, page.calls, page.struck]))
"""


def strike(
    folder: Path, kind: str = "none", at: int = -1, task: str = "calls", mark: str = ""
) -> tuple[object, int, str]:
    """Return how the child of the program ended,
    its number of calls and the call that was struck.
    """
    below = folder / "below"
    below.mkdir(exist_ok=True)
    environment = {**os.environ, "LD_PRELOAD": str(build()), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, str(below), kind, str(at), task, mark]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True
    )
    end, calls, struck = json.loads(done.stdout)
    return end, calls, struck.replace(str(below), "")


def test_calls_below_the_folder_are_counted_and_others_are_not(tmp_path):
    assert strike(tmp_path) == (0, 6, "")
    assert (tmp_path / "beside").read_text() == "not counted"


@pytest.mark.parametrize(
    ("kind", "at", "struck", "files"),
    [
        ("kill-before", 0, "open /a", []),
        ("kill-after", 0, "open /a", [("a", b"")]),
        ("kill-before", 1, "write /a", [("a", b"")]),
        ("kill-half", 1, "write /a", [("a", b"1234")]),
        ("kill-after", 1, "write /a", [("a", b"12345678")]),
        ("kill-before", 3, "rename /b", [("a", b"12345678")]),
        ("kill-after", 3, "rename /b", [("b", b"12345678")]),
        ("kill-half", 5, "unlink /b", [("b", b"12345678")]),
    ],
)
def test_a_kill_leaves_what_the_calls_before_it_did(tmp_path, kind, at, struck, files):
    assert strike(tmp_path, kind, at) == (-signal.SIGKILL, at + 1, struck)
    assert [
        (path.name, path.read_bytes())
        for path in sorted((tmp_path / "below").iterdir())
        if path.is_file()
    ] == files


@pytest.mark.parametrize(
    ("at", "struck"), [(0, "rename /b"), (1, "mkdir /c"), (2, "unlink /b"), (3, "")]
)
def test_calls_are_counted_from_a_rename_on(tmp_path, at, struck):
    assert strike(tmp_path, "kill-before", at, mark="b")[2] == struck


def test_a_full_disk_refuses_what_needs_space_and_a_read_only_one_everything(tmp_path):
    assert strike(tmp_path, "full", 1)[0] == errno.ENOSPC
    assert strike(tmp_path, "full", 3)[2] == "mkdir /c"  # a rename needs none
    assert strike(tmp_path, "read-only", 3)[::2] == (errno.EROFS, "rename /b")


def test_a_stopped_process_waits_and_a_terminated_one_ends(tmp_path):
    assert strike(tmp_path, "stop", 2)[::2] == ("stopped", "fsync /a")
    assert strike(tmp_path, "terminate", 2)[0] == -signal.SIGTERM


@pytest.mark.slow
def test_writes_of_arrow_are_seen(tmp_path):
    end, calls, _ = strike(tmp_path, task="parquet")
    assert end == 0 and calls >= 2
    end, _, struck = strike(tmp_path, "kill-before", calls - 1, "parquet")
    assert end == -signal.SIGKILL and struck.endswith("/t.parquet")
