"""Checks, what they report, and the lists that hold them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from harness.errors import HarnessError, MissingExtra, UnknownName, did_you_mean

Status = Literal["pass", "fail", "not applicable", "expected failure"]
Check = Callable[[Any], None]
C = TypeVar("C", bound=Check)


class Violation(AssertionError):
    """What a component does against its contract."""


class NotApplicable(Exception):
    """Why a check says nothing about a component."""


@dataclass(frozen=True)
class Outcome:
    """What one check found."""

    check: str
    status: Status
    reason: str = ""
    """Empty where it passed."""

    @property
    def failed(self) -> bool:
        return self.status == "fail"


class Checks:
    """The named checks of one kind of component, in order. A check takes a subject, returns None, and raises
    :class:`Violation` or :class:`NotApplicable`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._checks: dict[str, Check] = {}

    def add(self, check: C) -> C:
        """Decorator: the check is called by the function's name with hyphens."""
        self._checks[check.__name__.strip("_").replace("_", "-")] = check
        return check

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._checks)

    def run(
        self, subject: Any, *, skip: Collection[str] = (), expected_failures: Mapping[str, str] | None = None
    ) -> list[Outcome]:
        """All checks but those in ``skip``; raises :class:`UnknownName` for a name that is none of the checks.

        ``expected_failures``: check -> reason. One that passes all the same is a failure: the reason is out of date.
        """
        expected = expected_failures or {}
        for name in (*skip, *expected):
            if name not in self._checks:
                raise UnknownName(f"no check of {self.kind} is called '{name}'{did_you_mean(name, self._checks)}")
        return [self.run_one(name, subject, expected.get(name)) for name in self._checks if name not in skip]

    def run_one(self, name: str, subject: Any, expected: str | None = None) -> Outcome:
        """The outcome of one check; whatever the component raises is a failure that says so."""
        outcome = _outcome(name, self._checks[name], subject)
        if expected is None:
            return outcome
        if outcome.failed:
            return Outcome(name, "expected failure", f"{expected} ({outcome.reason})")
        return Outcome(name, "fail", f"was expected to fail and did not: {expected}")


def _outcome(name: str, check: Check, subject: Any) -> Outcome:
    try:
        check(subject)
    except NotApplicable as reason:
        return Outcome(name, "not applicable", str(reason))
    except Violation as violation:
        return Outcome(name, "fail", str(violation))
    except MissingExtra as error:
        return Outcome(name, "not applicable", str(error))
    except Exception as error:  # a component may raise anything: that is what the check reports
        return Outcome(name, "fail", f"raised {_told(error)}")
    return Outcome(name, "pass")


def _told(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, HarnessError) else f"{type(error).__name__}: {text}"


def ensure(condition: Any, message: str) -> None:
    """Raise :class:`Violation` unless the condition holds."""
    if not condition:
        raise Violation(message)
