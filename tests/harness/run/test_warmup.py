"""Warm-up of components."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.run.warmup import warm


class Slow:
    def __init__(self) -> None:
        self.calls = 0

    def warm(self) -> None:
        self.calls += 1


def test_components_with_first_use_work_are_started_and_others_are_ignored():
    slow = Slow()
    warm([object(), slow, 3])
    assert slow.calls == 1


@pytest.mark.parametrize(
    "start",
    [
        "warm([Starts()])",
        "next(iter([connect_cluster(ExecutorOptions('ray')).__enter__()]))",
    ],
)
def test_what_numpy_imports_on_first_use_is_there_before_a_thread_starts(start):
    code = f"""
import sys
from concurrent import futures
from harness.run import execution
from harness.run.execution import connect_cluster
from harness.run.executor import ExecutorOptions
from harness.run.warmup import LAZY_PARTS, warm

class Starts:
    def __init__(self, *arguments):
        print(sorted(set(LAZY_PARTS) - set(sys.modules)))
    warm = close = __init__

class Registry:
    load = staticmethod(lambda kind, name: Starts)
execution.current = Registry
sys.modules.pop("numpy.ma", None)
{start}
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_lazy_part_is_imported_before_the_work_starts(monkeypatch, tmp_path):
    for name in ("first_lazy_part", "second_lazy_part"):
        (tmp_path / f"{name}.py").write_text("")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        "harness.run.warmup.LAZY_PARTS", ("first_lazy_part", "second_lazy_part")
    )
    warm([Slow()])
    assert all(
        sys.modules.pop(name, None) for name in ("first_lazy_part", "second_lazy_part")
    )


def test_nothing_is_imported_for_components_without_first_use_work(monkeypatch):
    monkeypatch.setattr(
        "harness.run.warmup.import_lazy_parts", lambda: pytest.fail("no thread starts")
    )
    warm([object(), None])
