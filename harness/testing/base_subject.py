"""What every subject of the kit has: one watched run of the component, which its checks share."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from harness.testing import side_effects as watching
from harness.testing.results import Checks, NotApplicable

T = TypeVar("T")


class Observed(Generic[T]):
    """Base of a subject: give ``observe``, what it ``gives``, and the check that tells when it fails (``told_by``)."""

    gives: ClassVar[str]
    told_by: ClassVar[str]

    def observe(self) -> T:
        """The component's work that is watched."""
        raise NotImplementedError

    @cached_property
    def _watched(self) -> tuple[T | None, Exception | None, watching.Doings]:
        with watching.watching() as doings:
            try:
                return self.observe(), None, doings
            except NotApplicable:
                raise
            except Exception as error:  # told by the check ``told_by``; the others refer to it
                return None, error, doings

    @property
    def first_error(self) -> Exception | None:
        return self._watched[1]

    @property
    def base(self) -> T:
        """What was made; raises :class:`NotApplicable` where the check ``told_by`` fails."""
        made, error, _ = self._watched
        if made is None:
            raise NotApplicable(f"it gives no {self.gives} ({type(error).__name__}): see '{self.told_by}'")
        return made

    @property
    def doings(self) -> watching.Doings:
        self.base  # noqa: B018 (raises where there is nothing to say)
        return self._watched[2]


def add_conduct(checks: Checks, *, offline: bool = True) -> None:
    """The checks of how any component behaves while it works; ``offline``: where it may not ask a server either."""
    for check in (prints_nothing, writes_nothing, *([no_network] if offline else [])):
        checks.add(check)


def prints_nothing(subject: Any) -> None:
    """Nothing goes to stdout, which is for results."""
    watching.prints_nothing(subject.doings)


def writes_nothing(subject: Any) -> None:
    """No file is written into the working folder."""
    watching.writes_nothing(subject.doings)


def no_network(subject: Any) -> None:
    """Nothing is fetched at run time."""
    watching.connects_to_nothing(subject.doings)
