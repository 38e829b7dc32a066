"""The soak test itself: it notices other numbers, lost files and tracebacks, and a few disturbed runs end well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.soak.processes import End, state
from tools.soak.scenarios import tears
from tools.soak.workshop import Workshop, print_summary

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def finished(tmp_path):
    """A folder that looks like a finished run."""
    (tmp_path / "scores").mkdir()
    (tmp_path / "results.json").write_text(json.dumps({"results": [{"value": 0.5, "seconds": 1.0}]}))
    (tmp_path / "manifest.json").write_text("{}")
    np.savez(tmp_path / "scores" / "a.npz", stats=np.arange(3), seconds=1.0, sha256="x")
    return tmp_path


def test_times_are_no_part_of_the_state(finished):
    before = state(finished)
    (finished / "results.json").write_text(json.dumps({"results": [{"value": 0.5, "seconds": 2.0}]}))
    np.savez(finished / "scores" / "a.npz", stats=np.arange(3), seconds=2.0, sha256="y")
    (finished / "log.jsonl").write_text("{}\n")
    assert state(finished) == before


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda path: (path / "results.json").write_text('{"results": [{"value": 0.6}]}'), "wrong"),
        (lambda path: np.savez(path / "scores" / "a.npz", stats=np.arange(4)), "wrong"),
        (lambda path: (path / ".manifest.json.1.tmp").write_text(""), "wrong"),
        (lambda path: (path / ".lock").write_text(""), "wrong"),
        (lambda path: (path / "manifest.json").unlink(), "lost"),
    ],
)
def test_other_files_are_a_problem(finished, tmp_path_factory, change, kind):
    shop = Workshop(tmp_path_factory.mktemp("shop"), 0)
    shop.__dict__["expected"] = {"classic": state(finished)}
    shop.compare("s", "as it was", "classic", finished, End(0, ""))
    assert shop.tally("s").problems == []
    change(finished)
    shop.compare("s", "changed", "classic", finished, End(0, ""))
    assert shop.tally("s").problems[0].startswith(f"{kind}: s, changed")
    assert print_summary(shop.tallies) == 1


@pytest.mark.parametrize(
    ("end", "orderly"),
    [
        (End(2, "harness: one line"), True),
        (End(-9, ""), True),
        (End(3, "harness: this is a bug"), False),
        (End(-11, ""), False),
        (End(2, "Traceback (most recent call last):"), False),
    ],
)
def test_an_end_that_the_documentation_does_not_name_is_a_problem(end, orderly):
    assert end.is_orderly == orderly


def test_a_torn_file_differs_from_the_file():
    import random

    data = bytes(range(100))
    torn = tears(data, random.Random(0))
    assert set(torn) == {"half", "empty", "flipped"}
    assert all(content != data for content in torn.values())
    assert sum(a != b for a, b in zip(torn["flipped"], data)) == 1


@pytest.mark.slow
def test_a_disturbed_run_of_every_scenario():
    quick = [
        "crash-points",
        "disk-full",
        "read-only",
        "terminated",
        "fresh-crashes",
        "random-kills",
        "limits",
        "clock",
        "at-once",
    ]
    command = [
        sys.executable,
        "-m",
        "tools.soak.run",
        "--rounds",
        "1",
        "--seed",
        "1",
        "--specs",
        "classic",
        "--scenarios",
        *quick,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(name in done.stdout for name in quick)
