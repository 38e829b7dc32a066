"""Base of all subjects: a component under check,
and one recorded run of it that its checks share.

Side effects of the run are recorded too: output, files in the working folder,
connections, global random states.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from harness.contracts import Parameters
from harness.testing.results import Instance, NotApplicable, Violation

T = TypeVar("T")
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CACHE_FOLDERS = {"__pycache__", ".cache"}


@dataclass(eq=False)
class BaseSubject(Generic[T]):
    """A component under check.

    A subclass defines the class attributes, :meth:`compute` and :meth:`difference`.

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
    """Id of the check that reports an exception of the recorded run;
    the other checks refer to it.
    """
    identity_method: ClassVar[str] = "signature"
    """Method that identifies the component: ``signature`` or ``fingerprint``."""
    scope: ClassVar[str] = "not a check of this component"
    """Reason of checks that take another class of subject."""

    component: Instance
    parameters: Parameters | None = field(default=None, kw_only=True)

    def compute(self, component: Instance = None) -> T:
        """Return the results of the component, or of another instance of its class, on
        the inputs of the subject.
        """
        raise NotImplementedError

    def difference(self, expected: T, actual: T) -> str:
        """Return where two results differ, to the digit; empty when they are equal."""
        raise NotImplementedError

    def nearly_equal(self, left: T, right: T) -> bool:
        """Return whether two results agree within the tolerance of the kind."""
        return not self.difference(left, right)

    def identity(self, component: Instance = None) -> str:
        """Return the signature or fingerprint of the component,
        or of another instance of its class.
        """
        component = self.component if component is None else component
        return getattr(component, self.identity_method)()

    @cached_property
    def _recording(self) -> tuple[T | None, str, Exception | None, SideEffects]:
        identity = ""
        with record_side_effects() as effects:
            try:
                identity = self.identity()
                return self.compute(), identity, None, effects
            except NotApplicable:
                raise
            except Exception as error:
                # reported by the base check; the other checks refer to it
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
            raise NotApplicable(
                f"returns no {self.noun} ({type(error).__name__}): "
                f"see '{self.base_check}'"
            )
        return results

    @property
    def first_identity(self) -> str:
        """Signature or fingerprint before the recorded run; raises
        :class:`NotApplicable` when the run failed.
        """
        self.base  # noqa: B018  (raises when the run failed)
        return self._recording[1]

    @property
    def side_effects(self) -> SideEffects:
        """Side effects of the recorded run; raises :class:`NotApplicable` when it
        failed.
        """
        self.base  # noqa: B018  (raises when the run failed)
        return self._recording[3]

    def ensure_runs(self) -> T:
        """Return the results of the recorded run,
        or raise the exception of the component.
        """
        if self.first_error is not None:
            raise self.first_error
        return self.base


@dataclass(eq=False)
class ArraySubject(BaseSubject[np.ndarray]):
    """Subject whose results are an array."""

    def difference(self, expected: np.ndarray, actual: np.ndarray) -> str:
        """Return the shapes of two arrays that have different ones, or their largest
        difference; empty for equal arrays.
        """
        if expected.shape != actual.shape:
            return f"shapes {expected.shape} and {actual.shape}"
        if np.array_equal(expected, actual):
            return ""
        return f"by up to {np.abs(expected - actual).max():.3g}"


AnySubject = BaseSubject[Any]
"""The subject of a component of any kind."""


@dataclass
class SideEffects:
    """Side effects recorded by :func:`record_side_effects`."""

    output: str = ""
    """Text printed to stdout."""
    files: list[str] = field(default_factory=list)
    """Files opened for writing and folders created below the working folder,
    relative to it.
    """
    connections: list[str] = field(default_factory=list)
    """Addresses of socket connections."""


_current: SideEffects | None = None
_hook_installed = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _current is None:
        return
    if (
        event == "open"
        and isinstance(args[0], (str, bytes, os.PathLike))
        and int(args[2] or 0) & _WRITE_FLAGS
    ):
        _record_file(args[0], _current)
    elif event in ("os.mkdir", "os.rename"):
        _record_file(args[0] if event == "os.mkdir" else args[1], _current)
    elif event == "socket.connect" and isinstance(args[1], tuple):
        _current.connections.append(str(args[1]))


def _record_file(path: str | bytes | os.PathLike[Any], effects: SideEffects) -> None:
    full = Path(os.path.abspath(os.fsdecode(path)))
    if full.is_relative_to(Path.cwd()) and not _CACHE_FOLDERS & set(full.parts):
        effects.files.append(str(full.relative_to(Path.cwd())))


@contextlib.contextmanager
def record_side_effects() -> Iterator[SideEffects]:
    """Record the side effects of the code in the context; files in ``.cache`` and
    ``__pycache__`` are not counted.
    """
    global _current, _hook_installed
    if not _hook_installed:
        # an audit hook cannot be removed; it returns at once while nothing is recorded
        sys.addaudithook(_audit)
        _hook_installed = True

    stream = io.StringIO()
    effects = _current = SideEffects()
    try:
        with contextlib.redirect_stdout(stream):
            yield effects
    finally:
        _current = None
        effects.output = stream.getvalue()


def ensure_same_random_state(work: Callable[[], Any]) -> None:
    """Raise :class:`Violation` when ``work`` changes the global random state of Python
    or numpy.
    """
    before = random.getstate()
    numpy_before = np.random.get_state(legacy=True)
    work()

    if random.getstate() != before:
        raise Violation(
            "draws from Python's global random state; use a seeded random.Random"
        )
    for old, new in zip(numpy_before, np.random.get_state(legacy=True)):
        if not np.array_equal(old, new):  # type: ignore[arg-type]
            raise Violation(
                "draws from numpy's global random state; "
                "use np.random.default_rng(seed)"
            )


@contextlib.contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed the global random states of Python and numpy,
    and restore them afterwards.
    """
    before = random.getstate()
    numpy_before = np.random.get_state(legacy=True)
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # type: ignore[arg-type]
