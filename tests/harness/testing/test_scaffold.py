"""Plugins written by ``harness new-plugin`` pass their own tests and ``harness check``,
installed or not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from harness.cli.main import main
from harness.errors import HarnessError
from harness.testing.scaffold import TEMPLATES, new_plugin

TARGETS = {
    "metric": "acme_new.metric:AcmeNew",
    "distance": "acme_new.distance:acme_new",
    "embedding": "acme_new.embedding:acme_new",
    "adapter": "acme_new.adapter:AcmeNew",
    "reader": "acme_new.reader:AcmeNew",
    "task": "acme_new/acme-new.yaml",
    "command": ".",
}
PLURALS = {kind: "metrics" if kind == "command" else f"{kind}s" for kind in TARGETS}

FAST = ("metric", "distance")
KINDS_OF_TESTS = [
    kind if kind in FAST else pytest.param(kind, marks=pytest.mark.slow)
    for kind in TARGETS
]
"""Every kind takes some seconds: processes of pytest, pip and the harness."""


def call(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize("kind", KINDS_OF_TESTS)
def test_a_new_plugin_passes_its_tests_and_the_check(kind, tmp_path, capsys):
    folder = tmp_path / "plugin"
    assert (
        main(["new-plugin", "acme-new", "--kind", kind, "--output", str(folder)]) == 0
    )
    assert "acme_new/registry.yaml" in capsys.readouterr().out
    for file in folder.rglob("*.*"):
        assert not file.is_file() or "$" not in file.read_text(encoding="utf-8")
    tests = call("pytest", "-q", "-p", "no:cacheprovider", cwd=folder)
    assert tests.returncode == 0, tests.stdout
    assert "passed" in tests.stdout
    check = call("harness", "check", TARGETS[kind], "--json", cwd=folder)
    assert check.returncode == 0, check.stdout + check.stderr
    report = json.loads(check.stdout)
    assert report["passed"]
    assert {row["kind"] for row in report["checks"]} == {PLURALS[kind]}


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize("kind", KINDS_OF_TESTS)
def test_an_installed_plugin_is_available_by_name(kind, tmp_path):
    new_plugin("acme-new", kind, tmp_path / "plugin")
    target = tmp_path / "site"
    pip = (
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        target,
    )
    installation = call(*pip, tmp_path / "plugin", cwd=tmp_path)
    assert installation.returncode == 0, installation.stderr
    check = call("harness", "check", "acme-new", cwd=tmp_path, PYTHONPATH=str(target))
    assert check.returncode == 0, check.stdout + check.stderr
    assert f"acme-new/acme-new ({PLURALS[kind]})" in check.stdout
    listing = call(
        "harness", "list", PLURALS[kind], "--json", cwd=tmp_path, PYTHONPATH=str(target)
    )
    assert "acme-new/acme-new" in listing.stdout


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "Acme",
            "metric",
            "'Acme' is not a valid name; expected lower-case letters, "
            "digits and hyphens: acme",
        ),
        ("My Score", "command", "digits and hyphens: my-score"),
        ("Déjà_MyScore 2", "metric", "digits and hyphens: deja-my-score-2"),
        ("3D", "metric", "digits and hyphens: my-3d"),
        ("字", "command", "digits and hyphens: my-command"),
        ("acme-new", "metrc", "no kind 'metrc'; did you mean 'metric'?"),
        ("json", "task", "a module 'json' is installed already"),
    ],
)
def test_mistakes(name, kind, message, tmp_path):
    with pytest.raises(HarnessError, match=f"new-plugin: .*{re.escape(message)}"):
        new_plugin(name, kind, tmp_path / "plugin")
    assert not (tmp_path / "plugin").exists()


def test_a_folder_with_files_is_not_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(HarnessError, match="exists and is not empty"):
        new_plugin("acme-new", "metric", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_templates_are_named_as_templates():
    assert {path.suffix for path in TEMPLATES.iterdir()} == {".tmpl"}
