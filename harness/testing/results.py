"""Results of checks, and the ordered lists of checks of each kind of component."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from harness.errors import HarnessError, MissingExtra, UnknownName, did_you_mean

Instance = Any
"""A component under check, of any class."""

Status = Literal["pass", "fail", "not applicable", "expected failure"]
Check = Callable[[Any], None]
C = TypeVar("C", bound=Check)


class Violation(AssertionError):
    """A breach of the component's contract; the message describes it."""


class NotApplicable(Exception):
    """A check does not apply to a component; the message gives the reason."""


@dataclass(frozen=True)
class Outcome:
    """Result of one check of one component."""

    check: str
    """Id of the check, for example ``candidate-order``."""
    status: Status
    reason: str = ""
    """One line; empty where the check passes."""

    @property
    def failed(self) -> bool:
        """True when the check fails and the failure is not expected."""
        return self.status == "fail"


class Checks:
    """Ordered, named checks of one kind of component.

    A check takes a subject and returns None, or raises :class:`Violation` or
    :class:`NotApplicable`. Its id is the name of its function with hyphens.

    Parameters
    ----------
    kind : str
        Plural kind for messages: ``metrics``, ``adapters``, ...
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._checks: dict[str, Check] = {}
        self._subjects: dict[str, type] = {}

    def add(self, check: C, subject: type = object) -> C:
        """Register a check (usable as a decorator);
        it applies to instances of ``subject`` alone.
        """
        name = check.__name__.replace("_", "-")
        self._checks[name], self._subjects[name] = check, subject
        return check

    def of(self, subject: type) -> Callable[[C], C]:
        """Return a decorator that registers checks of one class of subject; they are
        not applicable to others.
        """
        return lambda check: self.add(check, subject)

    def extend(self, checks: Iterable[Check]) -> None:
        """Register several checks in order."""
        for check in checks:
            self.add(check)

    def include(self, *others: Checks) -> Checks:
        """Register all checks of other lists, in order, and return self."""
        for checks in others:
            for name, check in checks._checks.items():
                self.add(check, checks._subjects[name])
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of the checks, in order."""
        return tuple(self._checks)

    @property
    def descriptions(self) -> dict[str, str]:
        """First paragraph of each check's docstring, on one line, by id."""
        paragraphs = {
            name: inspect.cleandoc(check.__doc__ or "").partition("\n\n")[0]
            for name, check in self._checks.items()
        }
        return {name: " ".join(text.split()) for name, text in paragraphs.items()}

    def run(
        self,
        subject: Instance,
        *,
        skip: Collection[str] = (),
        expected_failures: Mapping[str, str] | None = None,
    ) -> list[Outcome]:
        """Return the outcomes of all checks except those in ``skip``.

        Parameters
        ----------
        subject : object
            The component under check with its inputs.
        skip : collection of str
            Ids of checks to leave out.
        expected_failures : mapping, optional
            Check id -> reason. An expected failure that passes is a failure: its reason
            is out of date.

        Raises
        ------
        UnknownName
            For an id in ``skip`` or ``expected_failures`` that no check has.
        """
        expected = expected_failures or {}
        for name in (*skip, *expected):
            if name not in self._checks:
                raise UnknownName(
                    f"no check of {self.kind} is called "
                    f"'{name}'{did_you_mean(name, self._checks)}"
                )
        return [
            self.run_one(name, subject, expected.get(name))
            for name in self._checks
            if name not in skip
        ]

    def run_one(
        self, name: str, subject: Instance, expected: str | None = None
    ) -> Outcome:
        """Return the outcome of one check; any exception of the component becomes a
        failure with one line of reason.
        """
        outcome = self._outcome(name, subject)
        if expected is None:
            return outcome
        if outcome.failed:
            return Outcome(name, "expected failure", f"{expected} ({outcome.reason})")
        return Outcome(name, "fail", f"was expected to fail and did not: {expected}")

    def _outcome(self, name: str, subject: Instance) -> Outcome:
        if not isinstance(subject, self._subjects[name]):
            return Outcome(name, "not applicable", subject.scope)
        try:
            self._checks[name](subject)
        except (NotApplicable, MissingExtra) as reason:
            return Outcome(name, "not applicable", str(reason))
        except Violation as violation:
            return Outcome(name, "fail", str(violation))
        except Exception as error:
            # a component may raise anything; the outcome reports it
            return Outcome(name, "fail", f"raised {describe_error(error)}")
        return Outcome(name, "pass")


def describe_error(error: Exception) -> str:
    """Return an exception as one line: its message,
    after the type's name unless it is a :class:`HarnessError`.

    >>> describe_error(ValueError("no\\nwords"))
    'ValueError: no words'
    """
    text = " ".join(str(error).split())
    return (
        text if isinstance(error, HarnessError) else f"{type(error).__name__}: {text}"
    )


def ensure(condition: Any, message: str) -> None:
    """Raise :class:`Violation` with the message unless the condition holds."""
    if not condition:
        raise Violation(message)


@contextmanager
def violation_on_error(inputs: str) -> Iterator[None]:
    """Turn an exception of the component into a :class:`Violation` that names its
    inputs.
    """
    try:
        yield
    except (Violation, NotApplicable):
        raise
    except Exception as error:
        # a component may raise anything; the violation reports it
        raise Violation(f"{inputs} raise {describe_error(error)}") from error
