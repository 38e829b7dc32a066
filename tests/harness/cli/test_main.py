"""The command line as a process: quick start, exit codes, one line for mistakes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "sentence_transformers", "datasets", "scipy.stats", "matplotlib", "numba", "pandas")


def harness(*arguments, cwd=None, check=False):
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=check)


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["list", "metrics", "--json"], ["--version"]])
def test_start_is_light(arguments, tmp_path):
    code = (
        "import sys; from harness.cli.main import main; code = main(sys.argv[1:]);"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]; sys.exit(f'imports {{heavy}}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_list_names_what_is_shipped(tmp_path):
    shown = json.loads(harness("list", "--json", cwd=tmp_path, check=True).stdout)
    names = {(entry["kind"], entry["name"]) for entry in shown["entries"]}
    assert {
        ("metrics", "trm"),
        ("metrics", "meteor"),
        ("adapters", "predictions"),
        ("readers", "coco"),
        ("tasks", "coco"),
    } <= names
    assert shown["failures"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "unknown verb 'rum'; did you mean 'run'?"),
        (["list", "metric"], "unknown kind 'metric'; did you mean 'metrics'?"),
        (["show", "metoer"], "there is nothing called 'metoer'; did you mean 'meteor'?"),
        (["run", "missing.yaml"], "missing.yaml: no such spec file or task"),
        (["validate", "spec.yaml", "--set", "metrics=[lenth]"], "unknown metric 'lenth'; did you mean 'length'?"),
        (["run", "spec.yaml", "--limit", "0"], "no examples after limit 0"),
        (["list", "--registry", "none.yaml"], "none.yaml: no such registry file"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(project, arguments, message):
    done = harness(*arguments, cwd=project)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert not (project / "runs").exists(), "nothing half-written"


def test_debug_shows_the_traceback(project):
    assert "Traceback" in harness("--debug", "run", "missing.yaml", cwd=project).stderr


def test_a_run_prints_a_table_and_returns_1_when_examples_failed(project):
    done = harness("run", "spec.yaml", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "length" in done.stdout
    assert "↑" in done.stdout
    failed = harness("run", "spec.yaml", "--set", "models=[{echo: {fail: [e1]}}]", "--output", "other", cwd=project)
    assert failed.returncode == 1
    assert "could not read it" in failed.stdout


def test_validate_and_schema(project):
    assert "valid" in harness("validate", "spec.yaml", cwd=project, check=True).stdout
    schema = json.loads(harness("schema", cwd=project, check=True).stdout)
    assert "length" in schema["properties"]["metrics"]["items"]["anyOf"][0]["enum"]


def test_show_prints_a_card(project):
    shown = harness("show", "length", cwd=project, check=True).stdout
    assert "scale = 1.0" in shown
    assert "Mean number of words" in shown
