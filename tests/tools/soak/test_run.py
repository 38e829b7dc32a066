"""The adversary as a command: a few histories, the counts,
and the exit status where too little was done.
"""

from __future__ import annotations

import collections
import subprocess
import sys
from pathlib import Path

import pytest

from tools.soak.run import summary

ROOT = Path(__file__).resolve().parents[3]
TALLY = collections.Counter(
    {"run|kill-half": 3, "rescore|full": 2, "histories": 40, "commands": 90, "kills": 3}
)


def test_counts_by_verb_and_disturbance_are_printed(capsys):
    assert summary(TALLY, [], 1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rescore", "run"]
    assert [line.split() for line in lines[1:3]] == [["full", "2"], ["kill-half", "3"]]
    assert (
        lines[-1]
        == "40 histories, 90 commands, 5 disturbed, 3 killed: 0 lost, 0 wrong, "
        "0 refused"
    )


def test_too_few_histories_and_problems_fail(capsys):
    assert summary(TALLY, [], 2) == 1
    assert (
        "too little was done: 40 histories in 2 minutes; expected at least 60"
        in capsys.readouterr().out
    )
    assert summary(TALLY, ["seed 1: lost: no results"], 1) == 1
    assert "3 killed: 1 lost" in capsys.readouterr().out


@pytest.mark.slow
def test_some_histories_end_well():
    command = [
        sys.executable,
        "-m",
        "tools.soak.run",
        "--rounds",
        "4",
        "--seed",
        "1",
        "--workers",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " killed: 0 lost, 0 wrong, 0 refused" in done.stdout
