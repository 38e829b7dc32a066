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


PACKAGES = {
    ".": "harness",
    "tasks": "harness_tasks",
    "plugins": "harness_metrics",
    "adapters": "harness_models",
}
"""Folders of the distributions and the packages that they hold."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """Package -> wheel, built from copies of the tree (so that no build folder is left
    behind).
    """
    root = Path(__file__).resolve().parent.parent
    out: dict[str, Path] = {}
    for folder, package in PACKAGES.items():
        source = tmp_path_factory.mktemp("source")
        shutil.copytree(
            root / folder / package,
            source / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copytree(
            root / "tests",
            source / "tests",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(root / folder / name, source / name)
        place = tmp_path_factory.mktemp("dist")
        options = ["--quiet", "--no-deps", "--no-build-isolation", "-w", str(place)]
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True
        )
        out[package] = next(place.glob("*.whl"))
    return out


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory) -> Path:
    """The bin folder of a new environment that holds the wheels and sees this one's
    dependencies, but not its harness.
    """
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    files = map(str, wheels.values())
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", *files],
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


def test_each_wheel_puts_only_its_package_into_site_packages(wheels):
    for package, wheel in wheels.items():
        names = zipfile.ZipFile(wheel).namelist()
        assert {
            top
            for name in names
            if not (top := name.split("/")[0]).endswith(".dist-info")
        } == {package}
        assert not [name for name in names if "golden" in name]
        assert f"{package}/py.typed" in names
        assert package == "harness" or f"{package}/registry.yaml" in names
    tasks = zipfile.ZipFile(wheels["harness_tasks"]).namelist()
    assert {"harness_tasks/coco.yaml", "harness_tasks/sample/captions.json"} <= set(
        tasks
    )
    assert (
        "harness/testing/templates/pyproject.toml.tmpl"
        in zipfile.ZipFile(wheels["harness"]).namelist()
    )


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
