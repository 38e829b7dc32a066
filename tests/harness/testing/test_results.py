"""Lists of checks and their outcomes."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError, MissingExtra, UnknownName
from harness.testing import check_metric
from harness.testing.results import (
    Checks,
    NotApplicable,
    Outcome,
    Violation,
    describe_error,
    ensure,
    violation_on_error,
)
from harness.testing.targets import ALL_CHECKS


@pytest.fixture
def checks():
    checks = Checks("metrics")

    @checks.add
    def first_one(subject):
        """The first check."""
        raise Violation("no")

    @checks.add
    def second(subject):
        """The second check.

        Further lines.
        """
        raise NotApplicable("why")

    @checks.add
    def third(subject):
        """The third check."""

    return checks


def test_checks_run_in_order(checks):
    assert [(o.check, o.status, o.reason) for o in checks.run(None)] == [
        ("first-one", "fail", "no"),
        ("second", "not applicable", "why"),
        ("third", "pass", ""),
    ]


def test_checks_have_descriptions(checks):
    assert checks.descriptions == {
        "first-one": "The first check.",
        "second": "The second check.",
        "third": "The third check.",
    }


def test_a_description_is_the_first_paragraph_on_one_line():
    checks = Checks("metrics")

    @checks.add
    def wrapped(subject):
        """A requirement that is longer than a line of the source,
        and is wrapped.

        Further lines.
        """

    checks.add(lambda subject: None)
    assert checks.descriptions == {
        "wrapped": "A requirement that is longer than a line of the source, "
        "and is wrapped.",
        "<lambda>": "",
    }


@pytest.mark.parametrize("kind", ALL_CHECKS)
def test_every_check_of_the_kit_has_a_description(kind):
    assert all(text.endswith(".") for text in ALL_CHECKS[kind].descriptions.values())


def test_skipped_and_expected_failures(checks):
    assert [o.check for o in checks.run(None, skip=["second"])] == [
        "first-one",
        "third",
    ]
    outcomes = checks.run(
        None, expected_failures={"first-one": "by design", "third": "outdated"}
    )
    assert outcomes[0] == Outcome("first-one", "expected failure", "by design (no)")
    assert not outcomes[0].failed
    assert outcomes[2] == Outcome(
        "third", "fail", "was expected to fail and did not: outdated"
    )


@pytest.mark.parametrize(
    "argument", [{"skip": ["thrid"]}, {"expected_failures": {"thrid": "x"}}]
)
def test_unknown_ids(checks, argument):
    with pytest.raises(
        UnknownName,
        match="no check of metrics is called 'thrid'; did you mean 'third'?",
    ):
        checks.run(None, **argument)


def test_checks_of_one_class_of_subject():
    checks = Checks("metrics")

    @checks.of(int)
    def positive(subject):
        """The number is positive."""
        ensure(subject > 0, f"is {subject}")

    class Other:
        """Another subject."""

        scope = "is not a number"

    assert checks.run(1)[0].status == "pass"
    assert checks.run(-1)[0] == Outcome("positive", "fail", "is -1")
    assert checks.run(Other())[0] == Outcome(
        "positive", "not applicable", "is not a number"
    )
    assert Checks("metrics").include(checks).run(Other()) == checks.run(Other())


def test_exceptions_are_one_line():
    checks = Checks("metrics")
    checks.add(lambda subject: (_ for _ in ()).throw(subject))
    assert (
        checks.run(ValueError("two\n  lines"))[0].reason
        == "raised ValueError: two lines"
    )
    assert checks.run(HarnessError("a mistake"))[0].reason == "raised a mistake"
    assert checks.run(MissingExtra("needs java"))[0] == Outcome(
        "<lambda>", "not applicable", "needs java"
    )
    assert describe_error(KeyError("x")) == "KeyError: 'x'"


def test_exceptions_for_named_inputs():
    with (
        pytest.raises(Violation, match=r"texts \(empty\) raise ValueError: no words"),
        violation_on_error("texts (empty)"),
    ):
        raise ValueError("no words")
    for error in (Violation("x"), NotApplicable("x")):
        with pytest.raises(type(error)), violation_on_error("texts"):
            raise error


def test_expected_failures_of_a_metric(overlap):
    outcomes = {
        o.check: o
        for o in check_metric(overlap(), expected_failures={"bounds": "outdated"})
    }
    assert outcomes["bounds"].reason == "was expected to fail and did not: outdated"
