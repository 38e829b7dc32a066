"""The collector comes seldom inside, and as before afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys
from threading import Event, Thread

import pytest

from harness import collector


def test_settings_from_before_come_back():
    before = gc.get_threshold()
    with pytest.raises(KeyError), collector.seldom():
        assert gc.isenabled()
        assert gc.get_threshold()[0] >= 200_000
        raise KeyError
    assert gc.get_threshold() == before


def test_a_collector_that_is_off_stays_off():
    code = "import gc; gc.set_threshold(0)\nfrom harness import collector\nwith collector.seldom(): print(gc.get_threshold()[0])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"


def test_threads_that_overlap_leave_the_settings_from_before():
    before, inside, leave = gc.get_threshold(), Event(), Event()

    def visit():
        with collector.seldom():
            inside.set()
            leave.wait(10)

    with collector.seldom():
        other = Thread(target=visit)
        other.start()
        assert inside.wait(10)
    assert gc.get_threshold()[0] >= 200_000  # the other is still inside
    leave.set()
    other.join()
    assert gc.get_threshold() == before


AT_EXIT = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 0, flush=True))  # called after what is registered later
from harness import collector
with collector.seldom(): pass
"""

HELD_OPEN = """
class Holder: pass
holder = Holder()
holder.itself, holder.file = holder, open(sys.argv[1], "w")
holder.file.write("whole")
"""


def test_the_end_comes_without_a_last_search():
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_what_only_garbage_holds_open_is_written(tmp_path):
    command = [sys.executable, "-c", AT_EXIT + HELD_OPEN, str(tmp_path / "file")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
    assert (tmp_path / "file").read_text() == "whole"
