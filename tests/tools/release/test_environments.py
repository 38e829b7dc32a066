"""Interpreters and sizes of environments."""

from __future__ import annotations

import sys

import pytest

from tools.release import environments
from tools.release.environments import (
    Environment,
    installed,
    interpreters,
    largest,
    size,
)


def test_the_running_interpreter_has_its_version_in_the_list(monkeypatch, tmp_path):
    found = interpreters()
    assert list(found) == ["3.11", "3.12", "3.13", "3.14"]
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert set(interpreters().values()) == {None}


def test_a_program_that_is_no_such_python_is_passed_over(monkeypatch, tmp_path):
    program = tmp_path / "python3.12"
    program.write_text("#!/bin/sh\necho 3.9.1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert interpreters()["3.12"] is None


def test_sizes_leave_links_out(tmp_path):
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "big").mkdir(parents=True)
    (site / "big" / "a").write_bytes(b"x" * 3_000_000)
    (site / "small.py").write_bytes(b"x" * 1000)
    (site / "link").symlink_to(site / "big" / "a")
    assert size(tmp_path) == pytest.approx(3.001)
    assert largest(Environment(tmp_path, 0, 0, 0), 1) == [("big", pytest.approx(3.0))]


def test_a_failing_installation_ends_with_its_output(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "create", lambda python, folder: python)
    command = [sys.executable, "-c", "import sys; sys.exit('no matching distribution')"]
    with pytest.raises(SystemExit, match="no matching distribution"):
        installed(tmp_path, tmp_path, tmp_path / "x.whl", [command])
