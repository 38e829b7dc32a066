"""Environments of programs: declared, created by uv, used, removed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness
from harness.errors import HarnessError, MissingExtra
from harness.programs.environment import Environment, created_environments
from harness.programs.program import Program
from harness.registry.permissions import allow_environments

FILES = 20
"""Number of files that the stand-in for uv installs."""
UV = """#!{python}
import os, sys, time
FILES = {files}
if os.environ.get("UV_FAILS"):
    sys.exit("error: No solution found when resolving dependencies")
print(*sys.argv[1:], file=open({log!r}, "a"))
arguments = sys.argv[1:]
def write_slowly(folder):
    for number in range(FILES):
        # It makes again what another process removes.
        os.makedirs(folder, exist_ok=True)
        open(folder + "/module_" + str(number), "w").write(str(os.getppid()))
        time.sleep(float(os.environ.get("UV_PAUSE", 0)))
if arguments[0] == "venv":
    os.makedirs(arguments[-1] + "/bin")
    os.symlink({python!r}, arguments[-1] + "/bin/python")
if arguments[0] == "pip":
    write_slowly(arguments[arguments.index("--python") + 1][:-10] + "lib")
if arguments[0] == "sync":
    os.makedirs(os.environ["UV_PROJECT_ENVIRONMENT"] + "/bin")
"""


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """A stand-in for uv that logs its arguments."""
    folder = tmp_path / "uv"
    folder.mkdir()
    log = folder / "log"
    program = folder / "uv"
    program.write_text(UV.format(python=sys.executable, log=str(log), files=FILES))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return log


def declare(project: Path, environment: str) -> None:
    text = (project / "registry.yaml").read_text()
    lines = text.replace(json.dumps(sys.executable), "python").splitlines()
    position = next(i for i, line in enumerate(lines) if "parameters:" in line)
    lines.insert(position, f"    environment: {environment}")
    (project / "registry.yaml").write_text("\n".join(lines) + "\n")


def score():
    return harness.score(["a dog"], [["a dog"]], ["overlap"])["overlap"].value


def test_an_environment_is_created_on_demand_alone(project, uv, cache):
    declare(project, '{python: "3.8", requirements: [numpy==1.20.3]}')
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


def test_first_use_creates_it_where_the_user_says_so(project, uv):
    declare(project, "{requirements: [numpy], build: true}")
    with allow_environments(True):
        assert score() == 1.0
    assert "--no-build" not in uv.read_text()


def test_a_failure_of_uv_is_one_line_and_leaves_nothing(
    project, uv, cache, monkeypatch
):
    declare(project, "{requirements: [no-such-package]}")
    monkeypatch.setenv("UV_FAILS", "1")
    with pytest.raises(HarnessError, match="ended with code 1: error: No solution"):
        harness.env("create", "overlap")
    assert not [path for path in (cache / "environments").iterdir() if path.is_dir()]


def test_without_uv_it_is_one_line(project, monkeypatch):
    declare(project, "{requirements: [numpy]}")
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


def test_two_processes_create_an_environment_once(project, uv, cache):
    declare(project, "{requirements: [numpy]}")
    processes = [create_elsewhere(project) for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert all("overlap: ready" in output for output in outputs)
    assert len(uv.read_text().splitlines()) == 2
    check_whole(cache)


@pytest.mark.parametrize("files", [0, 1, FILES // 2, FILES - 1])
def test_a_kill_during_the_creation_leaves_nothing_in_use(project, uv, cache, files):
    declare(project, "{requirements: [numpy]}")
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


def test_an_unfinished_environment_is_not_listed(project, uv, cache):
    declare(project, "{requirements: [numpy]}")
    (row,) = harness.env("create", "overlap").rows
    shutil.copytree(row.folder, row.folder.with_name(f".{row.folder.name}.1.tmp"))
    assert [found.folder for found in harness.env().rows] == [row.folder]


def test_an_environment_that_is_not_there_is_not_removed(project, uv):
    declare(project, "{requirements: [numpy]}")
    with pytest.raises(HarnessError, match="remove overlap: the environment is not cr"):
        harness.env("remove", "overlap")


def test_an_environment_of_the_user_is_not_removed(project, tmp_path):
    declare(project, f"{{path: {tmp_path / 'venv'}}}")
    with pytest.raises(HarnessError, match="your own, .*venv; nothing is removed"):
        harness.env("remove", "overlap")


def test_a_project_counts_by_its_lock_file(tmp_path):
    environment = Environment(project=str(tmp_path))
    before = environment.digest()
    (tmp_path / "uv.lock").write_text("version = 1\n")
    assert environment.digest() != before


def test_an_environment_of_the_user_is_used_as_it_is(project, tmp_path):
    declare(project, f"{{path: {tmp_path / 'venv'}}}")
    with pytest.raises(MissingExtra, match="there is no virtual environment in"):
        score()
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to(sys.executable)
    assert score() == 1.0


def test_unknown_names_are_one_line(project):
    with pytest.raises(HarnessError, match="no action 'creat'; did you mean 'create'"):
        harness.env("creat")
    with pytest.raises(HarnessError, match="no component 'overlp' declares an environ"):
        harness.env("create", "overlp")


def test_a_program_gets_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "value-of-the-key")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    program = Program("metric 'x'", ("python3",), tmp_path)
    assert "MY_API_KEY" not in program.variables()
    assert program.variables()["LC_ALL"] == "C.UTF-8"
    asking = Program("metric 'x'", ("python3",), tmp_path, secrets=("MY_API_KEY",))
    with pytest.raises(HarnessError, match="--allow-secret MY_API_KEY"):
        asking.variables()
    monkeypatch.setenv("HARNESS_ALLOWED_SECRETS", "MY_API_KEY")
    assert asking.variables()["MY_API_KEY"] == "value-of-the-key"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("uv"), reason="uv is not installed")
def test_uv_creates_an_environment_without_packages(project):
    declare(project, f"{{python: {json.dumps(sys.executable)}}}")
    harness.env("create", "overlap")
    assert score() == 1.0
