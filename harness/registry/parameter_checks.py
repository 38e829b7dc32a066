"""Checks of constructor parameters before a component is created: names, missing ones, plain types."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Union, cast

from harness.contracts import Parameters, PathMark, Values
from harness.errors import HarnessError, UnknownName, did_you_mean, nearest_name

PLAIN_TYPES: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""Plain types and their descriptions in messages."""
_PLURALS: dict[type, str] = {bool: "true or false", int: "whole numbers", float: "numbers", str: "texts"}


@dataclass(frozen=True)
class _ListOf:
    """A list or tuple, with the plain types, literals and ``...`` (anything) that its items may be."""

    items: tuple[Any, ...]

    def __str__(self) -> str:
        return f"a list of {' or '.join(_PLURALS.get(item, str(item)) for item in self.items)}"


def parameters(factory: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the constructor parameters by name, without ``self`` and catch-alls."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: p for name, p in inspect.signature(factory).parameters.items() if p.kind in kinds}


def list_parameters(factory: Callable[..., object]) -> set[str]:
    """Return the parameters of a constructor that accept lists, or mappings, and no single value: by annotation or default."""
    hints = type_hints(factory)
    names = {name for name, hint in hints.items() if name != "return" and _accepts_lists_alone(hint)}
    parameters = inspect.signature(factory).parameters.values()
    return names | {p.name for p in parameters if isinstance(p.default, (list, tuple))}


def _accepts_lists_alone(hint: object) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _accepts_lists_alone(arguments[0])
    if origin in (typing.Union, types.UnionType):
        kinds = [
            item for item in arguments if item is not type(None) and typing.get_origin(item) not in (dict, Mapping)
        ]
        return bool(kinds) and all(map(_accepts_lists_alone, kinds))
    return origin in (list, tuple, Sequence, Collection)


def type_hints(factory: Callable[..., object]) -> Values:
    """Return the type hints of the constructor, ``Annotated`` included, without those that cannot be evaluated."""
    function = factory.__init__ if inspect.isclass(factory) else factory
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):  # a name imported for type checkers alone: evaluate one by one
        function = inspect.unwrap(function)
        hints: Values = {}
        for name, hint in getattr(function, "__annotations__", {}).items():
            try:
                hints[name] = eval(hint, getattr(function, "__globals__", {})) if isinstance(hint, str) else hint
            except (NameError, TypeError, AttributeError):
                continue
        return hints


def path_parameters(factory: Callable[..., object]) -> set[str]:
    """Return the names of the parameters that are annotated with :data:`~harness.contracts.PathParam`."""
    return {name for name, hint in type_hints(factory).items() if _is_path(hint)}


def _is_path(hint: Any) -> bool:
    if PathMark in getattr(hint, "__metadata__", ()):
        return True
    return any(_is_path(part) for part in typing.get_args(hint))


def check_parameters(component: str, factory: Callable[..., object], params: Parameters) -> None:
    """Raise :class:`UnknownName` or :class:`HarnessError` for parameters that do not fit the constructor.

    Parameters
    ----------
    component : str
        Kind and registered name for the message: ``metric 'trm'``.
    factory : callable
        The component's class or factory function.
    params : mapping
        Parameters of the spec.
    """
    accepted = parameters(factory)
    catch_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(factory).parameters.values())
    for name in params:
        if name not in accepted and not catch_all:
            expected = ", ".join(accepted) or "none"
            raise UnknownName(
                f"{component} has no parameter '{name}'{did_you_mean(name, accepted)}; parameters are: {expected}",
                parameter=name, expected=accepted, nearest=nearest_name(name, accepted),
            )  # fmt: skip
    missing = [name for name, p in accepted.items() if p.default is inspect.Parameter.empty and name not in params]
    if missing:
        raise HarnessError(f"{component} needs the parameter '{missing[0]}'", parameter=missing[0])
    hints = type_hints(factory) if params else {}
    for name, value in params.items():
        if name in hints:
            _check_type(component, name, value, hints[name])


def _check_type(component: str, name: str, value: object, hint: Any) -> None:
    """Raise :class:`HarnessError` when the hint consists of plain types alone and the value has none of them."""
    accepted = list(_plain(hint))
    if any(item is Ellipsis for item in accepted) or any(_fits(value, item) for item in accepted):
        return
    literals = [item for item in accepted if not isinstance(item, (type, _ListOf))]
    expected = [str(item) for item in literals] + [PLAIN_TYPES[item] for item in accepted if item in PLAIN_TYPES]
    expected += [str(item) for item in accepted if isinstance(item, _ListOf)]
    raise HarnessError(
        f"{component}: {name} is {value!r}; expected {', '.join(expected)}{did_you_mean(str(value), map(str, literals))}",
        parameter=name, value=value, expected=expected, nearest=nearest_name(str(value), map(str, literals)),
    )  # fmt: skip


def _plain(hint: Any) -> Iterator[Any]:
    """Yield the plain types, lists and literal values of a hint, None for an optional one, ``...`` for anything else."""
    origin = typing.get_origin(hint)
    if origin is Literal:
        yield from typing.get_args(hint)
    elif origin in (Union, types.UnionType):
        for part in typing.get_args(hint):
            yield from _plain(part)
    elif origin is typing.Annotated:
        yield from _plain(typing.get_args(hint)[0])
    elif origin in (list, tuple, Sequence):
        items = tuple(item for part in typing.get_args(hint) if part is not Ellipsis for item in _plain(part))
        yield ... if ... in items else _ListOf(items)
    elif hint in PLAIN_TYPES:
        yield hint
    elif hint is type(None):
        yield None
    else:
        yield ...


def _fits(value: object, item: Any) -> bool:
    if isinstance(item, _ListOf):
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return False
        if not isinstance(value, (list, tuple)):
            return True
        return all(any(_fits(part, accepted) for accepted in item.items) for part in cast("Sequence[object]", value))
    if not isinstance(item, type):
        return value is item or (type(value) is type(item) and value == item)
    if item is float:
        return not isinstance(value, bool) and isinstance(value, Real)
    if item is int:
        return not isinstance(value, bool) and isinstance(value, Integral)
    return isinstance(value, item)
