"""The recorded run that the checks of a subject share."""

from __future__ import annotations

import os
import random
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.testing.base_subject import (
    BaseSubject,
    ensure_same_random_state,
    global_seed,
    record_side_effects,
)
from harness.testing.results import NotApplicable, Violation


class Counter:
    """Number of calls so far."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls = 0
        self.error = error

    def signature(self):
        return f"counter|{self.calls}"

    def fingerprint(self):
        return "fingerprint"

    def count(self):
        self.calls += 1
        print("call", self.calls)
        if self.error is not None:
            raise self.error
        return self.calls


class Subject(BaseSubject[int]):
    """Subject of this module."""

    noun = "counts"
    base_check = "counts"

    def compute(self, component: Any = None) -> int:
        return (component or self.component).count()

    def difference(self, expected: int, actual: int) -> str:
        return "" if expected == actual else f"{expected} and {actual}"


def test_the_component_runs_once():
    subject = Subject(Counter())
    assert subject.base == subject.base == subject.ensure_runs() == 1
    assert subject.component.calls == 1
    assert subject.side_effects.output == "call 1\n"
    assert subject.first_error is None


def test_the_identity_before_the_run_is_recorded():
    subject = Subject(Counter())
    assert subject.first_identity == "counter|0"
    assert subject.identity() == "counter|1"
    assert subject.identity(Counter()) == "counter|0"


def test_the_identity_may_be_a_fingerprint():
    class Model(Subject):
        """Subject with a fingerprint."""

        identity_method = "fingerprint"

    assert Model(Counter()).identity() == "fingerprint"


def test_an_exception_is_reported_by_one_check():
    subject = Subject(Counter(ValueError("no count")))
    with pytest.raises(ValueError, match="no count"):
        subject.ensure_runs()
    for name in ("base", "side_effects", "first_identity"):
        with pytest.raises(
            NotApplicable, match=r"returns no counts \(ValueError\): see 'counts'"
        ):
            getattr(subject, name)


def test_not_applicable_inputs_are_passed_on():
    subject = Subject(Counter(NotApplicable("needs images")))
    with pytest.raises(NotApplicable, match="needs images"):
        _ = subject.base


def test_results_are_nearly_equal_when_they_do_not_differ():
    subject = Subject(Counter())
    assert subject.nearly_equal(1, 1)
    assert not subject.nearly_equal(1, 2)


def test_a_subclass_defines_the_work():
    with pytest.raises(NotImplementedError):
        BaseSubject(Counter()).compute()
    with pytest.raises(NotImplementedError):
        BaseSubject(Counter()).difference(1, 2)


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


@pytest.mark.parametrize(
    ("work", "name"), [(random.random, "Python's"), (np.random.random, "numpy's")]
)
def test_draws_from_the_global_state_are_a_violation(work, name):
    with pytest.raises(Violation, match=f"draws from {name} global random state"):
        ensure_same_random_state(work)


def test_draws_from_generators_are_none():
    ensure_same_random_state(
        lambda: (random.Random(1).random(), np.random.default_rng(1).random())
    )
