"""The wheel: built from the tree, installed into an environment of its own,
it lists and runs everything.
"""

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


PACKAGES = ("harness", "harness_metrics", "harness_models", "harness_tasks")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, root) -> Path:
    """The wheel, built from the files that git tracks."""
    source = tmp_path_factory.mktemp("source")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True
    ).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, source / name)
    folder = tmp_path_factory.mktemp("dist")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The bin folder of a new environment that holds the wheel and sees this one's
    dependencies, but not its harness.
    """
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel],
        check=True,
    )
    site = next((folder / "lib").glob("python*/site-packages"))
    # Its .pth files too, which find the kernels of the checkout; the installed harness
    # comes first on the path.
    (site / "dependencies.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    return folder / "bin"


def call(
    installed: Path, *arguments: str, cwd: Path
) -> subprocess.CompletedProcess[str]:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "HARNESS_DATA")
    }
    return subprocess.run(
        [installed / "harness", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_the_wheel_holds_the_four_packages_and_their_data(wheel, root):
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert not [name for name in names if "golden" in name]
    for package in PACKAGES:
        assert {f"{package}/py.typed", f"{package}/registry.yaml"} <= names
    assert {
        "harness_tasks/coco.yaml",
        "harness_tasks/sample/captions.json",
        "harness/testing/templates/pyproject.toml.tmpl",
    } <= names


def test_it_runs_from_its_own_files_and_every_entry_imports(installed, tmp_path):
    code = (
        "import harness, sys; from harness.registry import current; r = current();"
        "[r.load(e.kind, e.full_name) if e.target else e.file.read_text() "
        "for e in r.entries()];"
        "print(harness.__file__, len(r.entries()), len(r.failures))"
    )
    done = subprocess.run(
        [installed / "python", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(installed.parent) in done.stdout
    assert done.stdout.split()[-1] == "0"


def test_the_sample_task_runs_by_name(installed, tmp_path):
    done = call(
        installed,
        "run",
        "coco",
        "--limit",
        "8",
        "--output",
        "r",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert {record["model"] for record in shown["results"]} >= {
        "human, five held out",
        "central caption x 5",
    }
