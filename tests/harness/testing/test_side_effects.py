"""Recorded side effects and global random states."""

from __future__ import annotations

import os
import random
import socket
from pathlib import Path

import numpy as np
import pytest

from harness.testing.results import Violation
from harness.testing.side_effects import ensure_same_random_state, global_seed, record_side_effects


def test_output_files_and_connections_are_recorded(tmp_path, capsys):
    with record_side_effects() as effects:
        print("working")
        Path("written.txt").write_text("x")
        os.mkdir("folder")
        os.rename("written.txt", "folder/renamed.txt")
        with socket.socket() as connection:
            connection.connect_ex(("127.0.0.1", 9))
    assert effects.output == "working\n"
    assert effects.files == ["written.txt", "folder", str(Path("folder/renamed.txt"))]
    assert effects.connections == ["('127.0.0.1', 9)"]
    assert capsys.readouterr().out == ""


def test_reading_caches_and_other_folders_are_not_recorded(tmp_path, tmp_path_factory):
    (tmp_path / "data.txt").write_text("x")
    (tmp_path / ".cache").mkdir()
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "file.txt"
    with record_side_effects() as effects:
        Path("data.txt").read_text()
        Path(".cache/value").write_text("x")
        elsewhere.write_text("x")
    assert effects.files == []


def test_nothing_is_recorded_outside_the_context(tmp_path):
    with record_side_effects() as effects:
        pass
    Path("later.txt").write_text("x")
    assert (effects.output, effects.files, effects.connections) == ("", [], [])


def test_an_exception_ends_the_recording():
    with pytest.raises(ZeroDivisionError), record_side_effects() as effects:
        print("before")
        raise ZeroDivisionError
    assert effects.output == "before\n"


def test_the_global_seed_is_restored():
    random.seed(5)
    np.random.seed(5)
    expected = random.Random(5).random(), np.random.RandomState(5).random()
    with global_seed(1):
        inside = random.random(), np.random.random()
    assert inside == (random.Random(1).random(), np.random.RandomState(1).random())
    assert (random.random(), np.random.random()) == expected


@pytest.mark.parametrize(("work", "name"), [(random.random, "Python's"), (np.random.random, "numpy's")])
def test_draws_from_the_global_state_are_a_violation(work, name):
    with pytest.raises(Violation, match=f"draws from {name} global random state"):
        ensure_same_random_state(work)


def test_draws_from_generators_are_none():
    ensure_same_random_state(lambda: (random.Random(1).random(), np.random.default_rng(1).random()))
