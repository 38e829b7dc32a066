"""Checks that several kinds share: description, identity, repeatability, pickling,
parameters and side effects.

Each takes a :class:`~harness.testing.base_subject.BaseSubject`; the module of a kind
registers those that apply to it. Some compare a component with further instances of its
class: alike, with one parameter changed, or copied by pickling.
"""

from __future__ import annotations

import pickle
import re
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Union

from harness.contracts import Parameters, Values
from harness.contracts.parameters import type_hints
from harness.errors import HarnessError
from harness.registry import parameters as constructor_parameters
from harness.testing.base_subject import (
    AnySubject,
    ensure_same_random_state,
    global_seed,
)
from harness.testing.results import Instance, NotApplicable, Violation, ensure

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+|<[\w.]+ object")
SEEDS = (1, 2)
"""Seeds of the global random states under which results are computed again."""
PLAIN_TYPES = (bool, int, float, str, type(None))


def name(subject: AnySubject) -> None:
    """The attribute ``name`` is a text other than ``unnamed``."""
    value = getattr(subject.component, "name", None)
    ensure(
        isinstance(value, str) and value.strip() and value != "unnamed",
        f"name is {value!r}",
    )


def described(subject: AnySubject) -> None:
    """The class has a docstring (``harness show`` prints it)."""
    factory = type(subject.component)
    ensure(
        (factory.__doc__ or "").strip(),
        f"the class {factory.__name__} has no docstring",
    )


def signature(subject: AnySubject) -> None:
    """``signature()`` is one line of text, the same at every call and for an instance
    with the same parameters.
    """
    _ensure_stable_identity(subject)


def fingerprint(subject: AnySubject) -> None:
    """``fingerprint()`` is one line of text, the same at every call and for an instance
    with the same parameters.
    """
    _ensure_stable_identity(subject)


def _ensure_stable_identity(subject: AnySubject) -> None:
    component = subject.component
    call = f"{subject.identity_method}()"
    text = subject.identity()
    ensure(
        isinstance(text, str) and text.strip(),
        f"{call} returns {text!r}; expected a text",
    )
    ensure("\n" not in text, f"{call} has several lines: {text!r:.80}")
    ensure(
        not _ADDRESS.search(text),
        f"{call} contains an object's address, which changes per process: "
        f"{text!r:.100}",
    )

    # caches are read by other processes, which create another instance
    ensure(subject.identity() == text, f"{call} changes from call to call")
    try:
        second = second_instance(
            component, constructor_values(component, subject.parameters)
        )
    except NotApplicable:
        return
    ensure(
        subject.identity(second) == text
        or not have_equal_attributes(component, second),
        f"{call} differs between two equal instances: "
        f"{text!r:.60} and {subject.identity(second)!r:.60}",
    )


def deterministic(subject: AnySubject) -> None:
    """The results are the same again, whatever the global random state."""
    base = subject.base
    for seed in SEEDS:
        with global_seed(seed):
            difference = subject.difference(base, subject.compute())
        ensure(
            not difference, f"returns other {subject.noun} when run again: {difference}"
        )


def random_state(subject: AnySubject) -> None:
    """The global random states of Python and numpy do not change."""
    subject.base  # noqa: B018  (raises when the component does not run)
    ensure_same_random_state(subject.compute)


def pickles(subject: AnySubject) -> None:
    """A pickled copy, as a worker process gets it,
    has the same signature and returns the same results.
    """
    base = subject.base
    copy = pickled_copy(subject.component)
    ensure(
        subject.identity(copy) == subject.identity(),
        f"has another {subject.identity_method} after pickling",
    )
    difference = subject.difference(base, subject.compute(copy))
    ensure(not difference, f"returns other {subject.noun} after pickling: {difference}")


def parameters(subject: AnySubject) -> None:
    """A parameter that changes the results changes the signature or fingerprint,
    by which caches are keyed.
    """
    base = subject.base
    identity = subject.identity()
    if not constructor_parameters(type(subject.component)):
        raise NotApplicable("has no parameters")

    count = 0
    for change, variant in variants(subject.component, subject.parameters):
        try:
            results = subject.compute(variant)
        except (HarnessError, NotApplicable, ValueError, ImportError):
            # the value does not work on these inputs, so nothing is cached under it
            continue
        count += 1
        if (
            not subject.nearly_equal(base, results)
            and subject.identity(variant) == identity
        ):
            raise Violation(
                f"{change} changes the {subject.noun} but not the "
                f"{subject.identity_method} {identity!r:.80}"
            )
    if not count:
        raise NotApplicable("no parameter has a plain value that can be changed")


def signature_in_use(subject: AnySubject) -> None:
    """Scoring does not change the signature."""
    _ensure_identity_in_use(subject)


def fingerprint_in_use(subject: AnySubject) -> None:
    """Generating captions does not change the fingerprint."""
    _ensure_identity_in_use(subject)


def _ensure_identity_in_use(subject: AnySubject) -> None:
    before = subject.first_identity  # the recorded run comes first
    ensure(
        subject.identity() == before,
        f"the {subject.identity_method} changes when the component is used",
    )


def prints_nothing(subject: AnySubject) -> None:
    """Nothing is printed to stdout, which is reserved for results."""
    output = subject.side_effects.output
    ensure(not output, f"prints to stdout: {output[:60]!r}")


def writes_nothing(subject: AnySubject) -> None:
    """No file is written into the working folder."""
    files = dict.fromkeys(subject.side_effects.files)
    ensure(not files, f"writes into the working folder: {', '.join(files)[:80]}")


def no_network(subject: AnySubject) -> None:
    """No network connection is opened."""
    connections = dict.fromkeys(subject.side_effects.connections)
    ensure(not connections, f"connects to {', '.join(connections)[:80]}")


REPEATABLE = (deterministic, random_state, pickles, parameters)
"""Checks that the same work gives the same results, here and in another process,
for one identity.
"""
LOCAL_CONDUCT = (prints_nothing, writes_nothing)
"""Side effects of every kind; adapters and readers may open connections to a server."""
CONDUCT = (*LOCAL_CONDUCT, no_network)


def constructor_values(
    component: Instance, recorded: Parameters | None = None
) -> Values:
    """Return the constructor parameters of an instance.

    They are those of ``recorded``, else those that the instance records
    (:class:`~harness.contracts.Parameterised`), else plain attributes with the names of
    parameters.
    """
    if recorded is None:
        recorded = getattr(component, "constructor_parameters", None)
    if recorded is not None:
        return dict(recorded)
    attributes = getattr(component, "__dict__", {})
    names = [
        name for name in constructor_parameters(type(component)) if name in attributes
    ]
    return {
        name: attributes[name]
        for name in names
        if isinstance(attributes[name], PLAIN_TYPES)
    }


def have_equal_attributes(left: Instance, right: Instance) -> bool:
    """Return whether two instances agree in every plain attribute that both have."""
    values = _plain_attributes(left)
    others = _plain_attributes(right)
    return all(values[name] == others[name] for name in values.keys() & others.keys())


def _plain_attributes(item: Instance) -> Values:
    return {
        name: value
        for name, value in getattr(item, "__dict__", {}).items()
        if isinstance(value, PLAIN_TYPES)
    }


def second_instance(component: Instance, values: Parameters) -> Instance:
    """Return a new instance of the component's class; raises :class:`NotApplicable`
    when the constructor rejects the values.
    """
    factory = type(component)
    try:
        return factory(**values)
    except (HarnessError, TypeError, ValueError) as error:
        raise NotApplicable(
            f"a second {factory.__name__} cannot be constructed: {error}"
        ) from error


def variants(
    component: Instance, recorded: Parameters | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield ``parameter=value`` and an instance with that one parameter changed.

    Parameters with a plain value (number, boolean or ``Literal``) are changed, one at a
    time, where the constructor accepts another value.
    """
    values = constructor_values(component, recorded)
    hints = type_hints(type(component))
    for name, parameter in constructor_parameters(type(component)).items():
        current = values.get(name, parameter.default)
        for value in _other_values(current, hints.get(name)):
            try:
                variant = second_instance(component, {**values, name: value})
            except NotApplicable:
                continue
            yield f"{name}={value!r}", variant
            break


def _other_values(value: Any, hint: Any) -> list[Any]:
    choices = [
        choice
        for choice in _literals(hint)
        if isinstance(choice, str) and choice != value
    ]
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
    """Return the values of a ``Literal`` and of those in a union."""
    if typing.get_origin(hint) is Literal:
        return list(typing.get_args(hint))
    if typing.get_origin(hint) in (Union, types.UnionType):
        return [
            value for member in typing.get_args(hint) for value in _literals(member)
        ]
    return []


def pickled_copy(component: Instance) -> Instance:
    """Return the component after pickling, as a worker process gets it; raises
    :class:`Violation` when it does not pickle.
    """
    factory = type(component)
    if factory.__module__ == "__main__" or "<locals>" in factory.__qualname__:
        raise Violation(
            f"{factory.__qualname__} of {factory.__module__} cannot be imported by a "
            "worker process"
        )
    try:
        return pickle.loads(pickle.dumps(component))
    except Exception as error:  # pickling raises whatever a member raises
        raise Violation(
            f"does not pickle, as worker processes require: {type(error).__name__}: "
            f"{error}"
        ) from error
