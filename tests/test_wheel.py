"""The wheel: built from the tree, installed into an environment of its own, it lists and runs everything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built from a copy of the tree (so that no build folder is left behind)."""
    root = Path(__file__).resolve().parent.parent
    source = tmp_path_factory.mktemp("source")
    for name in ("harness", "plugins", "adapters", "tasks", "tests"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source / name)
    out = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(out),
        str(source),
    ]
    subprocess.run(command, check=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The bin folder of a new environment that holds the wheel and sees this one's dependencies, but not its harness."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    # Its .pth files too, which find the kernels of the checkout; the installed harness comes first on the path.
    (site / "dependencies.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    return folder / "bin"


def call(installed: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "HARNESS_DATA")}
    return subprocess.run(
        [installed / "harness", *arguments], cwd=cwd, capture_output=True, text=True, env=environment, check=False
    )


def test_the_wheel_puts_only_harness_into_site_packages(wheel):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"harness"}
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "golden" in name]
    names = zipfile.ZipFile(wheel).namelist()
    assert "harness/registry.yaml" in names
    assert "harness/tasks/coco.yaml" in names
    assert "harness/tasks/sample/captions.json" in names
    assert "harness/testing/templates/pyproject.toml.tmpl" in names


def test_it_runs_from_its_own_files_and_every_entry_imports(installed, tmp_path):
    code = (
        "import harness, sys; from harness.registry import current; r = current();"
        "[r.load(e.kind, e.full_name) if e.target else e.file.read_text() for e in r.entries()];"
        "print(harness.__file__, len(r.entries()), len(r.failures))"
    )
    done = subprocess.run([installed / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(installed.parent) in done.stdout
    assert done.stdout.split()[-1] == "0"


def test_the_sample_task_runs_by_name(installed, tmp_path):
    done = call(installed, "run", "coco", "--limit", "8", "--output", "r", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert {record["model"] for record in shown["results"]} >= {"human, five held out", "central caption x 5"}
