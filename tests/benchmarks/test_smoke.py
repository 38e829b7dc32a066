"""Every benchmark of the index runs with tiny input, or says why it cannot."""

from __future__ import annotations

import re

import pytest

from benchmarks import smoke


def test_every_benchmark_of_the_index_has_a_tiny_input(root):
    index = (root / "benchmarks/README.md").read_text(encoding="utf-8")
    commands = re.findall(r"`[^`]*(?:-m benchmarks\.|benchmarks/)([\w.]+)", index)
    listed = {name.removesuffix(".py") for name in commands} - {"NAME"}
    sections = {f"sections.{name}" for name in smoke.IN_OTHERS}
    assert listed - sections == smoke.BENCHMARKS.keys() | {"smoke"}


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(smoke, "find_data_folder", lambda: None)
    monkeypatch.setattr(smoke.shutil, "which", lambda name: None)
    assert smoke.find_reason("parity") == "needs real captions, Java"
    assert smoke.find_reason("trends").startswith("trains")
    assert not smoke.find_reason("combination")


def test_a_benchmark_that_ends_with_a_traceback_fails(monkeypatch, tmp_path):
    tiny = {"metric_speed": smoke.Smoke("--captions none")}
    monkeypatch.setattr(smoke, "BENCHMARKS", tiny)
    problem = smoke.run_small("metric_speed", tmp_path)
    assert problem.startswith("exit status 2")
    assert "invalid int value" in problem


@pytest.mark.slow
@pytest.mark.parametrize("name", smoke.BENCHMARKS)
def test_benchmark_runs_with_tiny_input(name, tmp_path):
    if reason := smoke.find_reason(name):
        pytest.skip(reason)
    assert not smoke.run_small(name, tmp_path)
