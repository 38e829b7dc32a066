"""Steps that need an index are neither passed nor failures."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.release.index import (
    NoIndex,
    NotTried,
    failure,
    line_of,
    print_problems,
    run_step,
)

FAILED = SystemExit("x: failed")
UNTRIED = NoIndex("x: no index")


@pytest.mark.parametrize(
    ("errors", "status", "words"),
    [
        ([], 0, []),
        ([UNTRIED], 3, ["NOT TRIED"]),
        ([UNTRIED, FAILED], 1, ["NOT TRIED", "PROBLEM"]),
    ],
)
def test_the_status_tells_failures_from_what_was_not_tried(
    capsys, errors, status, words
):
    assert print_problems([line_of("step", error) for error in errors]) == status
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in printed] == words


def test_the_line_of_a_step_that_was_not_tried_is_one_line():
    error = failure(["pip", "install", "x"], "a\nNewConnectionError\nb")
    line = line_of("3.11", error)
    assert isinstance(line, NotTried)
    assert line == "3.11: pip install x: no package index can be reached"


def test_a_step_that_ends_without_an_index_has_one_line(capsys):
    def step():
        raise UNTRIED

    assert run_step("make sbom", step) == 3
    assert capsys.readouterr().out == "NOT TRIED: make sbom: x: no index\n"
    assert run_step("make sbom", lambda: 1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("program", [["pip", "install"], ["uv", "pip", "install"]])
def test_pip_and_uv_say_that_no_index_is_reached(tmp_path, program):
    nowhere = "http://127.0.0.1:9/simple"
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "UV_"))
    }
    command = [sys.executable, "-m", *program, "--index-url", nowhere]
    done = subprocess.run(
        [*command, "--no-cache-dir", "--target", str(tmp_path), "no-such-package-1"],
        capture_output=True,
        text=True,
        env={**environment, "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull},
    )
    assert done.returncode
    assert isinstance(failure(command, done.stdout + done.stderr), NoIndex)
