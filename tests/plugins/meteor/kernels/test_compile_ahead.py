"""METEOR's kernels compiled ahead: what is compiled is what is used, and nothing depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor.kernels import compile_ahead as meteor_compile
from harness.plugins.meteor.kernels import pairs as meteor_kernels
from harness.run import progress


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A cache folder without a note, and no process started yet."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    meteor_compile._start.cache_clear()
    yield tmp_path
    meteor_compile._start.cache_clear()


def test_the_alignment_compiled_ahead_is_the_one_that_is_used():
    meteor.load_alignment()
    before = len(meteor_kernels.score_groups.signatures)
    assert meteor.scores([("a dog runs", ["the dog is running", "a cat"])])[0] > 0
    assert len(meteor_kernels.score_groups.signatures) == before == 1


def test_a_note_says_that_it_is_compiled(fresh):
    assert not meteor_compile.note().exists()
    meteor_compile.done()
    assert meteor_compile.note().exists()
    assert meteor_compile.start() is None


def test_one_process_is_started_and_waited_for(fresh, monkeypatch):
    started = []

    class Process:
        def wait(self, timeout=None):
            return 1

        def kill(self):
            started.append("killed")

    monkeypatch.setattr(subprocess, "Popen", lambda *args, **settings: started.append(args[0]) or Process())
    process = meteor_compile.start()
    assert meteor_compile.start() is process
    meteor_compile.wait()  # it failed: told in the log, and the kernels are compiled here
    assert started == [[sys.executable, "-P", "-m", "harness.plugins.meteor.kernels.compile_ahead"]]


def test_threads_start_one_process_and_tell_of_it_once(fresh, monkeypatch):
    told, started = [], []

    class Process:
        def __init__(self, *args, **settings):
            started.append(args)
            time.sleep(0.01)

        def kill(self):
            pass

    monkeypatch.setattr(progress, "note", told.append)
    monkeypatch.setattr(subprocess, "Popen", Process)
    with ThreadPoolExecutor(4) as pool:
        found = [future.result() for future in [pool.submit(meteor_compile.start) for _ in range(8)]]
    assert len(started) == len(told) == len(set(found)) == 1


def test_a_cache_folder_that_may_not_be_looked_into_has_no_note(fresh, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "exists", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert meteor_compile.start() is None
    meteor_compile.done()


def test_the_note_names_sources_and_settings(fresh, monkeypatch):
    before = meteor_compile.note()
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert meteor_compile.note() != before


@pytest.mark.slow
def test_the_other_process_compiles(fresh, tmp_path):
    environment = {"HARNESS_CACHE": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "code")}
    subprocess.run(
        [sys.executable, "-m", "harness.plugins.meteor.kernels.compile_ahead"],
        check=True,
        env={**os.environ, **environment},
    )
    assert list((tmp_path / "code").rglob("meteor_kernels.*score_groups*.nbc"))
    assert list((tmp_path / "meteor").glob("compiled-*"))
