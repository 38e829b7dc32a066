"""A running program: long lines, the end of its output, its process group."""

from __future__ import annotations

import os
import sys
import time

import pytest

from harness.errors import HarnessError
from harness.files.component_lines import collect_lines
from harness.programs import child as module
from harness.programs.child import Child
from harness.programs.protocol import ProgramFault
from tests.support.processes import running


def start(code, label="metric 'x'"):
    command = [sys.executable, "-S", "-c", code]
    return Child(label, command, {"PATH": os.defpath}, 0)


def read_all(child):
    """Return the lines of a program until its end."""
    lines = []
    deadline = time.monotonic() + 60
    while not child.ended:
        assert time.monotonic() < deadline
        lines += child.read()
        child.error_lines.read()
        time.sleep(0.001)
    return lines


def test_lines_are_read_whole_whatever_their_pieces():
    child = start(
        "import os, time\n"
        "for piece in (b'{\"id\"', b':1}\\n{\"id\":2}', b'\\n\\n \\n', b'{}'):\n"
        "    os.write(1, piece); time.sleep(0.02)\n"
    )
    assert read_all(child) == [b'{"id":1}', b'{"id":2}', b"{}"]
    child.close()


def test_an_answer_that_is_cut_off_by_the_end_is_left_out():
    child = start("""print('{"id":1}'); print('{"id":2,"val', end="")""")
    assert read_all(child) == [b'{"id":1}']
    child.close()


def test_a_line_of_many_bytes_is_read_in_time():
    child = start("print('x' * (60 << 20), flush=True); print('y')")
    started = time.process_time()
    long, short = read_all(child)
    assert (len(long), short) == (60 << 20, b"y")
    # In pieces of 2^18 bytes, looked through anew each time, it takes over 2 s.
    assert time.process_time() - started < 1.5
    child.close()


def test_a_line_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_LINE", 1 << 20)
    child = start("import sys\nwhile True: sys.stdout.write('x' * 4096)")
    with pytest.raises(
        ProgramFault, match="metric 'x': .* bytes has no end; an answer"
    ):
        read_all(child)
    child.kill()
    assert child.process.poll() is not None


def test_a_program_that_writes_without_pause_does_not_keep_a_read():
    child = start("import os\nwhile True: os.write(1, b'{}\\n' * 50_000)")
    for _ in range(20):
        child.read()
    child.kill()
    assert child.process.poll() is not None


def test_the_last_lines_on_standard_error_are_logged():
    child = start("import sys\nsys.stdin.read()\nprint('peak: 3 GB', file=sys.stderr)")
    with collect_lines() as lines:
        child.close()
    assert [line.text for line in lines] == ["peak: 3 GB"]
    assert child.process.returncode == 0


def test_what_a_program_has_started_ends_with_it():
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen(['sleep', '287.5'])\n"
        "print('{}', flush=True)\n"
        "sys.stdin.read()\n"
    )
    for end in ("close", "kill"):
        child = start(code)
        while not child.read():
            time.sleep(0.005)
        assert running("sleep 287.5", descendants=True)
        getattr(child, end)()
        assert not running("sleep 287.5", descendants=True)


def test_nobody_holds_it_and_it_ends():
    child = start("import sys; sys.stdin.read()")
    process = child.process
    del child
    assert process.poll() == 0


def test_a_command_that_cannot_be_started_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(HarnessError, match="metric 'x': cannot be started: "):
        start("")
