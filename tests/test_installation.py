"""The editable installation: plain paths, which type checkers follow without
preparation.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

PACKAGES = (
    "harness",
    "harness_metrics",
    "harness_models",
    "harness_tasks",
    "caption_kernels",
)


def test_the_configuration_of_pyright_names_no_paths(root):
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    assert "extraPaths" not in text and not (root / "setup.py").exists()


def test_editable_installs_are_plain_paths(root):
    site = Path(sysconfig.get_path("purelib"))
    files = [*site.glob("*caption_harness*.pth")]
    if not files:
        pytest.skip("the packages are not installed editable here")
    lines = [
        line for file in files for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert {Path(line) for line in lines} == {
        root,
        root / "tasks",
        root / "plugins",
        root / "adapters",
    }


@pytest.mark.slow
def test_pyright_finds_the_packages_from_any_folder(tmp_path):
    program = shutil.which("pyright") or str(Path(sys.executable).with_name("pyright"))
    if not Path(program).exists():
        pytest.skip("pyright is not installed")
    (tmp_path / "user.py").write_text(
        "".join(f"import {name}\n" for name in PACKAGES) + "harness.score()\n"
    )
    command = [program, "--pythonpath", sys.executable, "--outputjson", "user.py"]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    rules = [
        item.get("rule") for item in json.loads(result.stdout)["generalDiagnostics"]
    ]
    assert "reportMissingImports" not in rules
    assert "reportCallIssue" in rules or "reportArgumentType" in rules, (
        "the types of harness.score are known"
    )
