"""The recorded run that the checks of a subject share."""

from __future__ import annotations

from typing import Any

import pytest

from harness.testing.base_subject import BaseSubject
from harness.testing.results import NotApplicable


class Counter:
    """Number of calls so far."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls, self.error = 0, error

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

    noun, base_check = "counts", "counts"

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
        with pytest.raises(NotApplicable, match=r"returns no counts \(ValueError\): see 'counts'"):
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
