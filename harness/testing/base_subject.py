"""Base of all subjects: a component under check, and one recorded run of it that its checks share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from harness.contracts import Parameters
from harness.testing.results import Instance, NotApplicable
from harness.testing.side_effects import SideEffects, record_side_effects

T = TypeVar("T")


@dataclass(eq=False)
class BaseSubject(Generic[T]):
    """A component under check. A subclass defines the class attributes, :meth:`compute` and :meth:`difference`.

    Parameters
    ----------
    component : object
        The instance under check.
    parameters : mapping, optional
        Its constructor parameters, where they are recorded.
    """

    noun: ClassVar[str]
    """Noun for the results in messages: ``scores``, ``captions``."""
    base_check: ClassVar[str]
    """Id of the check that reports an exception of the recorded run; the other checks refer to it."""
    identity_method: ClassVar[str] = "signature"
    """Method that identifies the component: ``signature`` or ``fingerprint``."""
    scope: ClassVar[str] = "not a check of this component"
    """Reason of checks that take another class of subject."""

    component: Instance
    parameters: Parameters | None = field(default=None, kw_only=True)

    def compute(self, component: Instance = None) -> T:
        """Return the results of the component, or of another instance of its class, on the inputs of the subject."""
        raise NotImplementedError

    def difference(self, expected: T, actual: T) -> str:
        """Return where two results differ, to the digit; empty when they are equal."""
        raise NotImplementedError

    def nearly_equal(self, left: T, right: T) -> bool:
        """Return whether two results agree within the tolerance of the kind."""
        return not self.difference(left, right)

    def identity(self, component: Instance = None) -> str:
        """Return the signature or fingerprint of the component, or of another instance of its class."""
        return getattr(self.component if component is None else component, self.identity_method)()

    @cached_property
    def _recording(self) -> tuple[T | None, str, Exception | None, SideEffects]:
        identity = ""
        with record_side_effects() as effects:
            try:
                identity = self.identity()
                return self.compute(), identity, None, effects
            except NotApplicable:
                raise
            except Exception as error:  # reported by the base check; the other checks refer to it
                return None, identity, error, effects

    @property
    def first_error(self) -> Exception | None:
        """The exception of the recorded run, or None."""
        return self._recording[2]

    @property
    def base(self) -> T:
        """Results of the recorded run; raises :class:`NotApplicable` when it failed."""
        results, _, error, _ = self._recording
        if results is None:
            raise NotApplicable(f"returns no {self.noun} ({type(error).__name__}): see '{self.base_check}'")
        return results

    @property
    def first_identity(self) -> str:
        """Signature or fingerprint before the recorded run; raises :class:`NotApplicable` when the run failed."""
        self.base  # noqa: B018  (raises when the run failed)
        return self._recording[1]

    @property
    def side_effects(self) -> SideEffects:
        """Side effects of the recorded run; raises :class:`NotApplicable` when it failed."""
        self.base  # noqa: B018  (raises when the run failed)
        return self._recording[3]

    def ensure_runs(self) -> T:
        """Return the results of the recorded run, or raise the exception of the component."""
        if self.first_error is not None:
            raise self.first_error
        return self.base


@dataclass(eq=False)
class ArraySubject(BaseSubject[np.ndarray]):
    """Subject whose results are an array."""

    def difference(self, expected: np.ndarray, actual: np.ndarray) -> str:
        """Return the shapes of two arrays that have different ones, or their largest difference; empty for equal arrays."""
        if expected.shape != actual.shape:
            return f"shapes {expected.shape} and {actual.shape}"
        return "" if np.array_equal(expected, actual) else f"by up to {np.abs(expected - actual).max():.3g}"


AnySubject = BaseSubject[Any]
"""The subject of a component of any kind."""
