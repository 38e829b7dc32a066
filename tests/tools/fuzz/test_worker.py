"""A worker of the fuzzer: a bad set is found in a batch, ends are counted,
findings are written once per place.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from harness.errors import HarnessError
from tools.fuzz import worker as module
from tools.fuzz.fuzz_target import NotAnInput, Target
from tools.fuzz.fuzz_targets import TARGETS
from tools.fuzz.variation import halves
from tools.fuzz.worker import (
    Current,
    TooSlow,
    Worker,
    cpu_seconds,
    keep,
    read_current,
    too_slow,
)


def read(data: bytes, folder: Path) -> None:
    _, _, sets = json.loads(data)
    words = [item[0][0] for item in sets]
    if "bad" in words:
        raise KeyError("bad")
    if "slow" in words:
        while True:
            time.sleep(0)
    if "no" in words:
        raise HarnessError("no")
    if "skip" in words:
        raise NotAnInput


def batch(*words: str) -> bytes:
    return json.dumps(["m", False, [[[word], ["x"]] for word in words]]).encode()


@pytest.fixture
def worker(tmp_path, monkeypatch):
    target = Target(
        "t", None, read, True, size=lambda data: len(json.loads(data)[2]), halves=halves
    )
    monkeypatch.setitem(TARGETS, "t", target)
    return Worker(
        tmp_path,
        tmp_path / "out",
        Current(tmp_path / "current"),
        contextlib.nullcontext(),
    )


def test_a_bad_set_is_found_in_a_batch_and_the_others_count(worker, tmp_path):
    worker.attempted("t", batch("a", "b", "c", "bad", "d", "e"))
    assert worker.seen == {"t accepted": 5, "t finding": 1}
    (finding,) = [
        path for path in (tmp_path / "out" / "t").iterdir() if not path.suffix
    ]
    assert json.loads(finding.read_bytes())[2] == [[["bad"], ["x"]]]
    worker.attempted("t", batch("bad"))
    assert worker.seen["t finding"] == 2
    # one place in the code: input and traceback
    assert len(list((tmp_path / "out" / "t").iterdir())) == 2


def test_refused_and_skipped_inputs(worker):
    worker.attempted("t", batch("no"))
    worker.attempted("t", batch("skip", "skip"))
    assert worker.seen == {"t refused": 1}


def test_an_input_that_takes_too_much_cpu_time_is_a_finding(worker, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.05)
    worker.warmed.add("t")
    before = signal.signal(signal.SIGPROF, too_slow)
    try:
        worker.attempted("t", batch("slow"))
    finally:
        signal.signal(signal.SIGPROF, before)
    assert worker.seen == {"t finding": 1, "- slow": 1}


def test_the_input_in_work_survives_the_process(tmp_path):
    path = tmp_path / "current"
    assert read_current(path) == (0, "", b"")
    child = os.fork()
    if child == 0:
        current = Current(path)
        current.set("first", b"longer than the second")
        current.set("second", b"\x00data\n")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert read_current(path) == (2, "second", b"\x00data\n")


def test_the_same_place_is_kept_once(tmp_path, capsys):
    for data in (b"1", b"2"):
        keep(tmp_path, "t", data, "KeyError at a.py:1\ntraceback")
    assert capsys.readouterr().out.count("finding in t") == 1
    assert sorted(path.read_bytes() for path in (tmp_path / "t").iterdir()) == [
        b"1",
        b"KeyError at a.py:1\ntraceback",
    ]


def test_too_slow_passes_handlers_of_exceptions():
    with pytest.raises(TooSlow), contextlib.suppress(Exception):
        too_slow(0, None)


def test_cpu_seconds_of_a_process():
    before = cpu_seconds(os.getpid())
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert 0.05 < cpu_seconds(os.getpid()) - before < 5
    assert cpu_seconds(-1) == 0
