"""Further instances of a component's class: alike, with one parameter changed, or copied by pickling."""

from __future__ import annotations

import pickle
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Union

from harness.contracts import Parameters, Values
from harness.contracts.parameters import type_hints
from harness.errors import HarnessError
from harness.registry import parameters
from harness.testing.results import Instance, NotApplicable, Violation

PLAIN_TYPES = (bool, int, float, str, type(None))


def constructor_values(component: Instance, recorded: Parameters | None = None) -> Values:
    """Return the constructor parameters of an instance.

    They are those of ``recorded``, else those that the instance records (:class:`~harness.contracts.Parameterised`), else
    plain attributes with the names of parameters.
    """
    if recorded is None:
        recorded = getattr(component, "constructor_parameters", None)
    if recorded is not None:
        return dict(recorded)
    attributes = getattr(component, "__dict__", {})
    names = [name for name in parameters(type(component)) if name in attributes]
    return {name: attributes[name] for name in names if isinstance(attributes[name], PLAIN_TYPES)}


def have_equal_attributes(left: Instance, right: Instance) -> bool:
    """Return whether two instances agree in every plain attribute that both have."""
    left, right = (
        {name: value for name, value in getattr(item, "__dict__", {}).items() if isinstance(value, PLAIN_TYPES)} for item in (left, right)
    )
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def second_instance(component: Instance, values: Parameters) -> Instance:
    """Return a new instance of the component's class; raises :class:`NotApplicable` when the constructor rejects the values."""
    factory = type(component)
    try:
        return factory(**values)
    except (HarnessError, TypeError, ValueError) as error:
        raise NotApplicable(f"a second {factory.__name__} cannot be constructed: {error}") from error


def variants(component: Instance, recorded: Parameters | None = None) -> Iterator[tuple[str, Any]]:
    """Yield ``parameter=value`` and an instance with that one parameter changed.

    Parameters with a plain value (number, boolean or ``Literal``) are changed, one at a time, where the constructor accepts
    another value.
    """
    values = constructor_values(component, recorded)
    hints = type_hints(type(component))
    for name, parameter in parameters(type(component)).items():
        for value in _other_values(values.get(name, parameter.default), hints.get(name)):
            try:
                yield f"{name}={value!r}", second_instance(component, {**values, name: value})
            except NotApplicable:
                continue
            break


def _other_values(value: Any, hint: Any) -> list[Any]:
    choices = [choice for choice in _literals(hint) if isinstance(choice, str) and choice != value]
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
        return [value for member in typing.get_args(hint) for value in _literals(member)]
    return []


def pickled_copy(component: Instance) -> Instance:
    """Return the component after pickling, as a worker process gets it; raises :class:`Violation` when it does not pickle."""
    factory = type(component)
    if factory.__module__ == "__main__" or "<locals>" in factory.__qualname__:
        raise Violation(f"{factory.__qualname__} of {factory.__module__} cannot be imported by a worker process")
    try:
        return pickle.loads(pickle.dumps(component))
    except Exception as error:  # pickling raises whatever a member raises
        raise Violation(f"does not pickle, as worker processes require: {type(error).__name__}: {error}") from error
