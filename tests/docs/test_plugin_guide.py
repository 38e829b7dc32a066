"""The example of docs/plugins.md is listed, passes ``harness check``, and its test passes; every check and flag is real."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def guide(root):
    return (root / "docs" / "plugins.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project(guide, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    metric, test = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (folder / "my_metrics.py").write_text(metric)
    (folder / "test_it.py").write_text(test)
    (folder / "registry.yaml").write_text(re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)[0])
    return folder


def call(*arguments, cwd):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    "arguments",
    [
        ("harness", "check", "my_metrics:Words"),
        ("harness", "check", "words"),
        ("pytest", "-q", "-p", "no:cacheprovider"),
    ],
    ids=" ".join,
)
def test_the_example_passes(project, arguments):
    done = call(*arguments, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_the_checks_and_options_named_are_there(guide):
    import argparse

    from harness.cli import check
    from harness.testing.targets import checks_of

    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    for line in re.findall(r"^    (harness check .*)$", guide, re.MULTILINE):
        parser.parse_args(line.partition("#")[0].split()[2:])
    assert "candidate-order" in checks_of("metrics").names
    assert "runs" in checks_of("tasks").names
