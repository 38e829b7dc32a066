"""Calls of the compiled kernels by the fuzzer: they reach every function,
and a crash of the process is seen.
"""

from __future__ import annotations

import ast
import collections
import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest

import caption_kernels

pytest.importorskip("caption_kernels._compiled")
from tools.fuzz import fuzz_kernels, run

STUB = Path(caption_kernels.__file__).with_name("_compiled.pyi")


def test_every_function_and_method_is_called():
    names = set()
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names |= {
                item.name
                for item in node.body
                if isinstance(item, ast.FunctionDef) and item.name != "__init__"
            } | {node.name}
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    source = ast.parse(Path(fuzz_kernels.__file__).read_text(encoding="utf-8"))
    assert names - {
        node.attr for node in ast.walk(source) if isinstance(node, ast.Attribute)
    } == {"n_rows"}


def test_calls_that_fit_are_answered(monkeypatch):
    monkeypatch.setattr(fuzz_kernels, "spoil", lambda *_: None)
    session = fuzz_kernels.Session(random.Random(5))
    answered = set()
    for make in fuzz_kernels.MAKERS:
        for _ in range(3):
            function, arguments = make(session)
            with suppress(*fuzz_kernels.REFUSALS):
                function(*arguments)
                answered.add(make)
    assert len(answered) > 0.9 * len(set(fuzz_kernels.MAKERS))


@pytest.mark.parametrize("seed", [b"1", b"2", b"3"])
def test_spoilt_calls_are_refused_or_answered(seed):
    assert 20 < fuzz_kernels.run_calls(seed) < 90


def test_other_exceptions_are_findings(monkeypatch):
    monkeypatch.setattr(
        fuzz_kernels,
        "MAKERS",
        (lambda session: (exec, ["raise SystemError('a bug')"]),),
    )
    monkeypatch.setattr(fuzz_kernels, "spoil", lambda *_: None)
    with pytest.raises(SystemError, match="a bug"):
        fuzz_kernels.run_calls(b"1")


@pytest.mark.slow
def test_a_crash_is_a_finding(tmp_path, monkeypatch, capfd):
    """The fuzzer works in processes of its own and writes down the input of one that
    died.
    """
    monkeypatch.chdir(tmp_path)
    crash = (lambda session: (os.kill, [os.getpid(), signal.SIGKILL]),)
    monkeypatch.setattr(fuzz_kernels, "MAKERS", crash)
    monkeypatch.setattr(fuzz_kernels, "spoil", lambda *_: None)
    monkeypatch.setattr(
        "sys.argv",
        [
            "run",
            "--minutes",
            "0.03",
            "--workers",
            "1",
            "--targets",
            "kernel-calls",
            "--guided",
            "0",
        ],
    )
    assert run.main() == 1
    assert "the process ended with -9" in capfd.readouterr().out
    assert (
        collections.Counter(
            path.suffix for path in (tmp_path / ".fuzz/kernel-calls").iterdir()
        )[".txt"]
        >= 1
    )
