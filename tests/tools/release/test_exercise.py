"""Exercising: outcomes of two environments are compared,
failures have the end of the output.
"""

from __future__ import annotations

import pytest

from tools.release.exercise import (
    COMMANDS,
    Exercise,
    Failed,
    call,
    differences,
    exercise,
)


@pytest.fixture
def programs(tmp_path):
    """A folder with a program ``harness`` that prints results and writes the page,
    or fails for ``compare``.
    """
    program = tmp_path / "bin" / "harness"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        '  score|run) echo \'{"results": [{"metric": "cider", "model": "A", "value": '
        "1.5}]}';;\n"
        "  report) echo page > run.html;;\n"
        "  show) echo 'no such name' >&2; exit ${SHOW_CODE:-0};;\n"
        "esac\n"
    )
    program.chmod(0o755)
    return program.parent


def test_all_commands_are_run_and_the_values_are_read(programs, tmp_path):
    outcome = exercise(programs, tmp_path / "work")
    assert len(outcome.seconds) == len(COMMANDS)
    assert outcome.values == {"cider | A": 1.5}


def test_a_failure_has_the_command_and_its_message(programs, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOW_CODE", "2")
    with pytest.raises(Failed, match="harness show cider: exit code 2\nno such name"):
        call(programs, "show cider", tmp_path)


def test_values_that_differ_or_are_missing_are_named():
    first = Exercise({}, {"a": 1.0, "b": 2.0, "c": 0.0, "d": 1.0})
    second = Exercise({}, {"a": 1.0 + 1e-15, "b": 2.1, "c": 0.0})
    assert differences(first, second) == ["b", "d"]
