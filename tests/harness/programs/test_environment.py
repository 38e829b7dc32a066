"""Environments of programs: declared, created by uv, used, removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness
from harness.errors import HarnessError, MissingExtra
from harness.programs.environment import Environment, created_environments
from harness.registry import current
from harness.registry.permissions import allow_environments
from tests.support.uv_stand_in import FILES


def score():
    return harness.score(["a dog"], [["a dog"]], ["overlap"])["overlap"].value


def test_an_environment_is_created_on_demand_alone(project, declare, uv, cache):
    declare('{python: "3.8", requirements: [numpy==1.20.3]}')
    (row,) = harness.env().rows
    assert not row.is_ready
    with pytest.raises(MissingExtra, match="created yet: harness env create overlap"):
        score()
    assert not uv.exists()

    (row,) = harness.env("create", "overlap").rows
    assert row.is_ready and row.folder.parent == cache / "environments"
    create, install = uv.read_text().splitlines()
    assert create.startswith("venv --relocatable --no-project --python 3.8 ")
    assert install.startswith("pip install --python ")
    assert install.endswith("--no-build numpy==1.20.3")
    assert score() == 1.0
    harness.env("create", "overlap")
    assert len(uv.read_text().splitlines()) == 2
    (row,) = harness.env("remove", "overlap").rows
    assert not row.is_ready and not created_environments()


def test_first_use_creates_it_where_the_user_says_so(declare, uv):
    declare("{requirements: [numpy], build: true}")
    with allow_environments(True):
        assert score() == 1.0
    assert "--no-build" not in uv.read_text()


def test_a_failure_of_uv_is_one_line_and_leaves_nothing(
    declare, uv, cache, monkeypatch
):
    declare("{requirements: [no-such-package]}")
    monkeypatch.setenv("UV_FAILS", "1")
    with pytest.raises(HarnessError, match="ended with code 1: error: No solution"):
        harness.env("create", "overlap")
    assert not [path for path in (cache / "environments").iterdir() if path.is_dir()]


def test_without_uv_it_is_one_line(declare, monkeypatch):
    declare("{requirements: [numpy]}")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingExtra, match="created by uv, which is not installed"):
        harness.env("create", "overlap")


def create_elsewhere(project, *, pause=0.05):
    """Start ``harness env create overlap`` in another process."""
    return subprocess.Popen(
        [sys.executable, "-m", "harness", "env", "create", "overlap"],
        cwd=project,
        env={**os.environ, "UV_PAUSE": str(pause)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def temporary_folders(cache):
    folder = cache / "environments"
    return list(folder.glob(".*.tmp")) if folder.is_dir() else []


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def check_whole(cache):
    """The one environment is there with all files of one uv, and nothing beside it."""
    ((folder, _),) = created_environments()
    modules = [path.read_text() for path in (folder / "lib").iterdir()]
    assert len(modules) == FILES and len(set(modules)) == 1
    assert not temporary_folders(cache)


def test_two_processes_create_an_environment_once(project, declare, uv, cache):
    declare("{requirements: [numpy]}")
    processes = [create_elsewhere(project) for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert all("overlap: ready" in output for output in outputs)
    assert len(uv.read_text().splitlines()) == 2
    check_whole(cache)


@pytest.mark.parametrize("files", [0, 1, FILES // 2, FILES - 1])
def test_a_kill_during_the_creation_leaves_nothing_in_use(
    project, declare, uv, cache, files
):
    declare("{requirements: [numpy]}")
    process = create_elsewhere(project)

    def has_begun():
        return len(
            list((cache / "environments").glob(".*.tmp/lib/*"))
        ) >= files > 0 or (not files and temporary_folders(cache))

    wait_for(has_begun)
    process.kill()
    process.communicate()
    assert not created_environments()

    # At once, while the uv of the killed process may still write.
    assert not harness.env().rows[0].is_ready
    assert harness.env("create", "overlap").rows[0].is_ready
    check_whole(cache)
    assert score() == 1.0


def test_a_project_counts_by_its_lock_file(tmp_path):
    environment = Environment(project=str(tmp_path))
    before = environment.digest()
    (tmp_path / "uv.lock").write_text("version = 1\n")
    assert environment.digest() != before


def test_an_environment_of_the_user_is_used_as_it_is(declare, tmp_path):
    declare(f"{{path: {tmp_path / 'venv'}}}")
    with pytest.raises(MissingExtra, match="there is no virtual environment in"):
        score()
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to(sys.executable)
    assert score() == 1.0


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("uv"), reason="uv is not installed")
def test_uv_creates_an_environment_without_packages(declare):
    declare(f"{{python: {json.dumps(sys.executable)}}}")
    harness.env("create", "overlap")
    assert score() == 1.0


def python_3_8() -> str:
    """Return the path of Python 3.8 that uv finds, or that pyenv has; else empty."""
    if not shutil.which("uv"):
        return ""
    found = subprocess.run(
        ["uv", "python", "find", "--offline", "3.8"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode == 0:
        return found.stdout.strip()
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next((str(path) for path in root.glob("versions/3.8.*/bin/python")), "")


@pytest.mark.slow
def test_a_program_runs_in_an_old_python(project, declare):
    python = python_3_8()
    if not python:
        pytest.skip("there is no Python 3.8")
    program = project / "overlap.py"
    version = '"1.0+%d.%d" % sys.version_info[:2]'
    program.write_text(program.read_text().replace('"1.0"', version))
    declare(f"{{python: {json.dumps(python)}}}")
    harness.env("create", "overlap")
    metric = current().create("metrics", "overlap")
    assert metric.client.greeting.version == "1.0+3.8"
    assert score() == 1.0
