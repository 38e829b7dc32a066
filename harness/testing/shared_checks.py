"""What is true of every component: it is described, it has a steady identity, and its parameters are part of that."""

from __future__ import annotations

import pickle
import re
import typing
from collections.abc import Callable, Iterator
from typing import Any

from harness.errors import HarnessError
from harness.registry import parameters
from harness.testing.results import NotApplicable, Violation, ensure

PLAIN = (bool, int, float, str, type(None))
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+|<[\w.]+ object")


def described(component: Any) -> None:
    """Raise :class:`Violation` for a class without a docstring of its own: ``harness show`` prints it."""
    ensure((type(component).__doc__ or "").strip(), f"the class {type(component).__name__} has no docstring")


def steady_identity(component: Any, identity: Callable[[Any], Any], called: str) -> None:
    """``signature()`` or ``fingerprint()``: one line of text, the same when asked again and for a second such component."""
    text = identity(component)
    ensure(isinstance(text, str) and text.strip(), f"{called}() returned {text!r}; expected a text")
    ensure("\n" not in text, f"{called}() has several lines: {text!r:.80}")
    ensure(not _ADDRESS.search(text), f"{called}() holds an object's address, another in every process: {text!r:.100}")
    ensure(identity(component) == text, f"{called}() is another when asked again")
    try:
        second = made_again(component, {})
    except NotApplicable:
        return
    ensure(
        identity(second) == text or not same_settings(component, second),
        f"{called}() differs between two components made alike: {text!r:.60} and {identity(second)!r:.60}",
    )


def settings(component: Any) -> dict[str, Any]:
    """The parameters it was made with: those that the registry noted, else plain attributes of the same names."""
    recorded = getattr(component, "constructor_parameters", None)
    if recorded is not None:
        return dict(recorded)
    held = getattr(component, "__dict__", {})
    return {name: held[name] for name in parameters(type(component)) if name in held and isinstance(held[name], PLAIN)}


def same_settings(one: Any, other: Any) -> bool:
    """Whether two components hold equal plain settings: an instance made by hand may have had parameters of its own."""
    mine, theirs = (
        {name: value for name, value in getattr(item, "__dict__", {}).items() if isinstance(value, PLAIN)}
        for item in (one, other)
    )
    shared = mine.keys() & theirs.keys()
    return all(mine[name] == theirs[name] for name in shared)


def made_again(component: Any, changes: dict[str, Any]) -> Any:
    """Another component of the class with some parameters changed; raises :class:`NotApplicable` where that makes none."""
    factory = type(component)
    try:
        return factory(**{**settings(component), **changes})
    except (HarnessError, TypeError, ValueError) as error:
        raise NotApplicable(f"a second {factory.__name__} cannot be made: {error}") from error


def variants(component: Any) -> Iterator[tuple[str, Any]]:
    """``parameter=value`` and a component with that one parameter changed, for those with a plain default that can be."""
    given = settings(component)
    hints = _hints(type(component))
    for name, parameter in parameters(type(component)).items():
        now = given.get(name, parameter.default)
        for value in _others(now, hints.get(name)):
            try:
                yield f"{name}={value!r}", made_again(component, {name: value})
            except NotApplicable:
                continue
            break


def _hints(factory: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(factory.__init__)
    except (NameError, TypeError, AttributeError):  # names imported for type checkers alone
        return {}


def _others(value: Any, hint: Any) -> list[Any]:
    choices = [c for c in (*typing.get_args(hint), *_literals(hint)) if isinstance(c, str) and c != value]
    if choices:
        return choices
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value + 0.25, value / 2, value * 2]
    return []


def _literals(hint: Any) -> list[Any]:
    return [value for part in typing.get_args(hint) for value in typing.get_args(part)]


def told_apart(
    component: Any, identity: Callable[[Any], str], numbers: Callable[[Any], Any], same: Callable[[Any, Any], bool]
) -> None:
    """Wherever changing one parameter changes what the component gives, its identity must change too."""
    if not parameters(type(component)):
        raise NotApplicable("has no parameters")
    mine, text, tried = numbers(component), identity(component), 0
    for what, other in variants(component):
        try:
            theirs = numbers(other)
        except (HarnessError, NotApplicable, ValueError, ImportError):
            continue  # this setting does not work here, so nothing is cached under it
        tried += 1
        if not same(mine, theirs) and identity(other) == text:
            raise Violation(f"{what} changes what it gives but not {text!r:.80}: a cache would mix the two up")
    if not tried:
        raise NotApplicable("no parameter has a plain value that can be changed")


def copied(component: Any) -> Any:
    """The component after pickling, as a worker process gets it; raises :class:`Violation`."""
    factory = type(component)
    if factory.__module__ == "__main__" or "<locals>" in factory.__qualname__:
        raise Violation(f"{factory.__qualname__} of {factory.__module__} cannot be imported by a worker process")
    try:
        return pickle.loads(pickle.dumps(component))
    except Exception as error:  # pickling raises whatever a member raises
        raise Violation(
            f"does not pickle, so no worker process can have it: {type(error).__name__}: {error}"
        ) from error
