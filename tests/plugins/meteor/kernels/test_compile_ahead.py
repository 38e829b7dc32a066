"""Compilation in a second process: one process, one marker, and the same result when either fails."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor.kernels import compile_ahead, pairs


class Process:
    """A child process that ends with code 1."""

    def __init__(self, *args, **options):
        self.args, self.killed = args, False

    def wait(self, timeout=None):
        return 1

    def kill(self):
        self.killed = True


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return a cache folder without a marker; no process has been started yet."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    compile_ahead._start.cache_clear()
    yield tmp_path
    compile_ahead._start.cache_clear()


def test_alignment_is_compiled_for_the_types_that_are_used():
    compile_ahead.load_alignment()
    before = len(pairs.score_groups.signatures)
    assert meteor.scores([("a dog runs", ["the dog is running", "a cat"])])[0] > 0
    assert len(pairs.score_groups.signatures) == before == 1


def test_text_kernels_are_compiled_for_the_types_that_are_used():
    from harness.plugins.meteor.kernels.groups import find_phrases

    compile_ahead.load_text_kernels()
    before = len(find_phrases.signatures), len(pairs.score_rows.signatures)
    assert meteor.scores([("a dog runs", ["the dog is running", "a cat"])])[0] > 0
    assert (len(find_phrases.signatures), len(pairs.score_rows.signatures)) == before


def test_no_process_is_started_when_the_marker_exists(fresh):
    assert not compile_ahead.marker_path().exists()
    compile_ahead.write_marker()
    assert compile_ahead.marker_path().exists()
    assert compile_ahead.start() is None


def test_one_process_is_started_and_its_failure_is_logged(fresh, monkeypatch, caplog):
    processes = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **options: processes.append(args[0]) or Process())
    process = compile_ahead.start()
    assert compile_ahead.start() is process
    with caplog.at_level(logging.INFO, "harness.plugins.meteor"):
        compile_ahead.wait()
    assert processes == [[sys.executable, "-P", "-m", "harness.plugins.meteor.kernels.compile_ahead"]]
    assert "ended with code 1; compiling in this process" in caplog.text


def test_process_that_takes_too_long_is_killed(fresh, monkeypatch):
    class Slow(Process):
        def wait(self, timeout=None):
            if timeout is not None:
                raise subprocess.TimeoutExpired("python", timeout)
            return -9

    monkeypatch.setattr(subprocess, "Popen", Slow)
    process = compile_ahead.start()
    compile_ahead.wait()
    assert isinstance(process, Slow)
    assert process.killed


def test_threads_start_one_process(fresh, monkeypatch):
    processes = []

    class Slow(Process):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            processes.append(self)
            time.sleep(0.01)

    monkeypatch.setattr(subprocess, "Popen", Slow)
    with ThreadPoolExecutor(4) as pool:
        results = [future.result() for future in [pool.submit(compile_ahead.start) for _ in range(8)]]
    assert len(processes) == len(set(results)) == 1


def test_cache_folder_without_permission_has_no_marker(fresh, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "exists", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert compile_ahead.start() is None
    compile_ahead.write_marker()


def test_marker_depends_on_settings_and_sources(fresh, monkeypatch, tmp_path):
    before = compile_ahead.marker_path()
    with monkeypatch.context() as patch:
        patch.setenv("NUMBA_OPT", "1")
        assert compile_ahead.marker_path() != before
    assert compile_ahead.marker_path() == before
    copies = []
    for name in compile_ahead.SOURCES:
        copies.append(tmp_path / Path(name).name)
        copies[-1].write_bytes(Path(name).read_bytes())
    monkeypatch.setattr(compile_ahead, "SOURCES", tuple(map(str, copies)))
    assert compile_ahead.marker_path() == before
    copies[0].write_text("changed")
    assert compile_ahead.marker_path() != before


@pytest.mark.slow
def test_second_process_compiles_and_writes_the_marker(fresh, tmp_path):
    environment = {"HARNESS_CACHE": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "code")}
    subprocess.run(
        [sys.executable, "-m", "harness.plugins.meteor.kernels.compile_ahead"],
        check=True,
        env={**os.environ, **environment},
    )
    assert list((tmp_path / "code").rglob("pairs.*score_groups*.nbc"))
    assert list((tmp_path / "meteor").glob("compiled-*"))
