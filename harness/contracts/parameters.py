"""Parameters of components: annotated types, and checks of names and values;
imports nothing heavy.

A constructor whose parameters have the types of this module needs no checks of its own:
the registry checks them before it creates a component, and the decorator
:func:`check_arguments` does where a program calls the constructor.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import Parameter
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast

from annotated_types import Ge, Gt, Le, Lt

from harness.errors import InputError, UnknownName, did_you_mean

Parameters = Mapping[str, Any]
"""Named values of any type: constructor parameters, decoding options, metadata."""
Values = dict[str, Any]
"""Named values of any type, to be filled or changed."""
PLAIN_TYPES: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}
"""Plain types and their descriptions in messages."""
_for_each_constructor = functools.lru_cache(maxsize=1024)
"""Decorator of what is found out once: a program that scores example by example creates
its metrics anew in each call. Components of programs get new constructors each time.
"""
_EXPONENT = re.compile(r"[+-]?\d+[eE][+-]?\d+")
_PLURALS: dict[type, str] = {
    bool: "true or false",
    int: "whole numbers",
    float: "numbers",
    str: "texts",
}
_LIMITS: dict[type, tuple[str, Callable[[Any, Any], bool]]] = {
    Ge: ("of at least", operator.ge),
    Gt: ("above", operator.gt),
    Le: ("at most", operator.le),
    Lt: ("below", operator.lt),
}
"""Mark of a bound -> its words in messages, and the comparison that a value within it
fulfils.
"""


class PathMark:
    """Marker of constructor parameters that are file or folder names."""


PathParam = Annotated[str, PathMark]
"""Annotation of a constructor parameter that is a path: a relative one in a spec is
resolved beside the spec file.

>>> def __init__(self, checkpoint: PathParam, words: PathParam | None = None): ...
"""
PathLike = Annotated[str | Path, PathMark]
"""As :data:`PathParam`, for constructors that also accept a :class:`~pathlib.Path`."""


class KeyMark:
    """Marker of constructor parameters that name the environment variable of a key,
    which is sent to a server.
    """


class CodeMark:
    """Marker of constructor parameters that have code run, of a folder or of a hub."""


class WholeMark:
    """Marker of lists of a metric's constructor that are one value of a parameter, and
    no axis of the grid.
    """


KeyVariable = Annotated[str, KeyMark]
"""Annotation of a constructor parameter that names the environment variable of a key: a
file needs the user's permission for it.
"""
RunsCode = Annotated[bool, CodeMark]
"""Annotation of a switch that has code run: a file needs the user's permission for it.
"""
CodePath = Annotated[str, PathMark, CodeMark]
"""Annotation of a path of code that is run: a file needs the user's permission for it.
"""


class MayBeInfinite:
    """Marker of numbers with bounds that may also be infinite."""


Count = Annotated[int, Ge(1)]
"""A whole number of at least 1."""
Index = Annotated[int, Ge(0)]
"""A whole number of at least 0."""
Order = Annotated[int, Ge(1), Le(4)]
"""The longest n-gram: 1 to 4."""
Positive = Annotated[float, Gt(0)]
"""A finite number above 0."""
NonNegative = Annotated[float, Ge(0)]
"""A finite number of at least 0."""
Share = Annotated[float, Ge(0), Le(1)]
"""A number from 0 to 1."""
ProperShare = Annotated[float, Ge(0), Lt(1)]
"""A number of at least 0 and below 1."""


def _limit(bound: Ge | Gt | Le | Lt) -> Any:
    """Return the number of a bound, which has the name of its class."""
    return getattr(bound, type(bound).__name__.lower())


class _Kind:
    """A kind of values that is no plain type; ``str`` describes it in messages."""

    def holds(self, value: Any) -> bool:
        """Return True for a value of the kind."""
        raise NotImplementedError


@dataclass(frozen=True)
class _ListOf(_Kind):
    """A list or tuple, with the plain types, literals and ``...`` (anything) that its
    items may be.
    """

    items: tuple[Any, ...]

    def __str__(self) -> str:
        return f"a list of {' or '.join(map(_plural, self.items))}"

    def holds(self, value: Any) -> bool:
        """Return True for an iterable, unless it is a list or tuple with another
        item.
        """
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return False
        # A look at the items of other iterables, such as generators, would use them up.
        if not isinstance(value, (list, tuple)):
            return True
        items = cast("Sequence[object]", value)
        return all(_fits(item, self.items) for item in items)


@dataclass(frozen=True)
class _MapOf(_Kind):
    """A mapping, with what its keys and values may be."""

    keys: tuple[Any, ...]
    values: tuple[Any, ...]

    def __str__(self) -> str:
        keys = " or ".join(map(_plural, self.keys))
        values = " or ".join(map(_plural, self.values))
        return f"a mapping of {keys} to {values}"

    def holds(self, value: Any) -> bool:
        """Return True for a mapping whose keys and values are of these kinds."""
        return isinstance(value, Mapping) and all(
            _fits(key, self.keys) and _fits(item, self.values)
            for key, item in cast("Mapping[object, object]", value).items()
        )


@dataclass(frozen=True)
class _Limited(_Kind):
    """A whole number or a number with bounds."""

    kind: type
    bounds: tuple[Ge | Gt | Le | Lt, ...]
    infinite: bool

    def __str__(self) -> str:
        text = PLAIN_TYPES[self.kind]
        match self.bounds:
            case (Ge(ge=smallest), Le(le=largest)):
                return f"{text} from {smallest} to {largest}"
            case _:
                limits = [f"{_LIMITS[type(b)][0]} {_limit(b)}" for b in self.bounds]
                return f"{text} {' and '.join(limits)}"

    def holds(self, value: Any) -> bool:
        """Return True for a value of the kind within the bounds."""
        if not _fits(value, (self.kind,)) or (not self.infinite and math.isinf(value)):
            return False
        return all(
            _LIMITS[type(bound)][1](value, _limit(bound)) for bound in self.bounds
        )


def _plural(item: Any) -> str:
    """Return the description of a kind of items in a list or mapping."""
    if isinstance(item, _Limited):
        return str(item).replace(PLAIN_TYPES[item.kind], _PLURALS[item.kind])
    if isinstance(item, _ListOf):
        return str(item).replace("a list", "lists", 1)
    return "null" if item is None else _PLURALS.get(item, str(item))


@_for_each_constructor
def _signature(factory: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(factory)


def parameters(factory: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the constructor parameters by name, without ``self`` and catch-alls."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: p for name, p in _signature(factory).parameters.items() if p.kind in kinds
    }


@_for_each_constructor
def list_parameters(factory: Callable[..., object]) -> frozenset[str]:
    """Return the parameters of a constructor whose lists are one value: those that
    accept lists, or mappings, and no single value, by annotation or default, and those
    with the mark :class:`WholeMark`.
    """
    hints = type_hints(factory)
    names = {
        name
        for name, hint in hints.items()
        if name != "return" and _accepts_lists_alone(hint)
    }
    names |= _marked_parameters(factory, WholeMark)
    parameters = _signature(factory).parameters.values()
    names |= {p.name for p in parameters if isinstance(p.default, (list, tuple))}
    return frozenset(names)


def _accepts_lists_alone(hint: object) -> bool:
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is Annotated:
        return _accepts_lists_alone(arguments[0])
    if origin in (Union, UnionType):
        kinds = [
            item
            for item in arguments
            if item is not NoneType and typing.get_origin(item) not in (dict, Mapping)
        ]
        return bool(kinds) and all(map(_accepts_lists_alone, kinds))
    return origin in (list, tuple, Sequence, Collection)


@_for_each_constructor
def type_hints(factory: Callable[..., object]) -> Parameters:
    """Return the type hints of the constructor, ``Annotated`` included, without those
    that cannot be evaluated.
    """
    function = factory.__init__ if inspect.isclass(factory) else factory
    with suppress(NameError, TypeError, AttributeError):
        return typing.get_type_hints(function, include_extras=True)

    # A name is imported for type checkers alone: the others are evaluated one by one.
    function = inspect.unwrap(function)
    namespace = getattr(function, "__globals__", {})
    hints: Values = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        with suppress(NameError, TypeError, AttributeError):
            hints[name] = eval(hint, namespace) if isinstance(hint, str) else hint
    return hints


def literal_names(hint: object) -> tuple[str, ...]:
    """Return the names among which a parameter chooses, those of a ``Literal``; none
    for a parameter that also takes other values.

    >>> (
    ...     literal_names(Literal["ptb", "none"] | None),
    ...     literal_names(float | Literal["inf"]),
    ... )
    (('ptb', 'none'), ())
    """
    accepted = [item for item in _plain(hint) if item is not None]
    return tuple(accepted) if all(isinstance(item, str) for item in accepted) else ()


def path_parameters(factory: Callable[..., object]) -> set[str]:
    """Return the names of the parameters that are annotated with
    :data:`~harness.contracts.PathParam`.
    """
    return _marked_parameters(factory, PathMark)


def guarded_parameters(factory: Callable[..., object]) -> dict[str, str]:
    """Return the parameters for which a file needs the user's permission -> ``"key"``
    or ``"code"``.
    """
    keys = dict.fromkeys(_marked_parameters(factory, KeyMark), "key")
    return keys | dict.fromkeys(_marked_parameters(factory, CodeMark), "code")


def _marked_parameters(factory: Callable[..., object], mark: type) -> set[str]:
    return {name for name, hint in type_hints(factory).items() if _has_mark(hint, mark)}


def _has_mark(hint: Any, mark: type) -> bool:
    if mark in getattr(hint, "__metadata__", ()):
        return True
    return any(_has_mark(member, mark) for member in typing.get_args(hint))


def check_parameters(
    component: str, factory: Callable[..., object], params: Parameters
) -> None:
    """Raise :class:`UnknownName` or :class:`InputError` for parameters that do not fit
    the constructor.

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
    catch_all = any(
        p.kind is inspect.Parameter.VAR_KEYWORD
        for p in _signature(factory).parameters.values()
    )
    for name in params:
        if name not in accepted and not catch_all:
            text = f"{component} has no parameter"
            raise UnknownName.of_name(
                text, name, accepted, "parameters are:", parameter=name
            )
    for name, parameter in accepted.items():
        if parameter.default is inspect.Parameter.empty and name not in params:
            raise InputError(
                f"{component} needs the parameter '{name}'", parameter=name
            )

    # Hints are evaluated only where there is something to check: that takes time.
    hints: Parameters = type_hints(factory) if params else {}
    for name, value in params.items():
        if name in hints:
            _check_type(component, name, value, hints[name])


Checked = TypeVar("Checked", bound=Callable[..., Any])


def check_arguments(function: Checked) -> Checked:
    """Decorate a constructor or function: values that do not fit their types raise
    :class:`InputError`, with the name of the class.

    >>> class Coverage:
    ...     @check_arguments
    ...     def __init__(self, *, k: Count = 1) -> None:
    ...         self.k = k
    >>> Coverage(k=0)
    Traceback (most recent call last):
    ...
    harness.errors.InputError: Coverage: k is 0; expected a whole number of at least 1
    """
    signature = inspect.signature(function)
    catch_alls = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

    @functools.wraps(function)
    def check_and_call(*args: Any, **kwargs: Any) -> Any:
        hints = type_hints(function)
        values = signature.bind(*args, **kwargs).arguments
        owner = type(values["self"]).__name__ if "self" in values else function.__name__
        for name, value in values.items():
            if name in hints and signature.parameters[name].kind not in catch_alls:
                _check_type(owner, name, value, hints[name])
        return function(*args, **kwargs)

    return cast(Checked, check_and_call)


def check_fields(owner: str, instance: object) -> None:
    """Raise :class:`InputError` for fields of a dataclass that do not fit their types,
    to be called in ``__post_init__``.
    """
    hints = typing.get_type_hints(type(instance), include_extras=True)
    for name, hint in hints.items():
        _check_type(owner, name, getattr(instance, name), hint)


def _check_type(component: str, name: str, value: object, hint: Any) -> None:
    """Raise :class:`InputError` when the hint consists of plain types alone and the
    value has none of them.
    """
    accepted = tuple(_plain(hint))
    if ... in accepted or _fits(value, accepted):
        return

    literals = [
        str(item) for item in accepted if not isinstance(item, (type, _Kind, NoneType))
    ]
    kinds = [
        PLAIN_TYPES[item] if item in PLAIN_TYPES else str(item)
        for item in accepted
        if isinstance(item, (type, _Kind))
    ]
    expected = [*literals, *kinds]
    if None in accepted:
        expected.append("null")
    choices = ", ".join(expected[:-1]) + " or " * (len(expected) > 1) + expected[-1]

    advice = did_you_mean(str(value), literals)
    if isinstance(value, str) and _EXPONENT.fullmatch(value):
        # YAML 1.1 reads an exponent without a point as text.
        advice += " (in YAML write 1.0e-3, not 1e-3)"
    raise InputError(
        f"{component}: {name} is {value!r:.80}; expected {choices}{advice}",
        parameter=name,
        value=value,
    )


def _plain(hint: Any) -> Iterator[Any]:
    """Yield the plain types, lists and literal values of a hint, None for an optional
    one, ``...`` for anything else.
    """
    origin = typing.get_origin(hint)
    if origin is Literal:
        yield from typing.get_args(hint)
    elif origin in (Union, UnionType):
        for member in typing.get_args(hint):
            yield from _plain(member)
    elif origin is typing.Annotated:
        kind, *marks = typing.get_args(hint)
        bounds = tuple(mark for mark in marks if isinstance(mark, (Ge, Gt, Le, Lt)))
        if bounds:
            yield _Limited(kind, bounds, MayBeInfinite in marks)
        else:
            yield from _plain(kind)
    elif origin in (list, tuple, Sequence):
        items: list[Any] = []
        for member in typing.get_args(hint):
            if member is not Ellipsis:  # of tuple[int, ...]
                items += _plain(member)
        yield ... if ... in items else _ListOf(tuple(items))
    elif origin is Mapping:
        key, value = typing.get_args(hint)
        values = tuple(_plain(value))
        yield ... if ... in values else _MapOf(tuple(_plain(key)), values)
    elif hint in PLAIN_TYPES:
        yield hint
    elif hint is type(None):
        yield None
    else:
        yield ...


def _fits(value: object, accepted: Iterable[Any]) -> bool:
    """Return True for a value of one of the kinds."""
    return any(_is(value, item) for item in accepted)


def _is(value: object, item: Any) -> bool:
    if isinstance(item, _Kind):
        return item.holds(value)
    if not isinstance(item, type):
        return value is item or (type(value) is type(item) and value == item)
    if item is float:
        return not isinstance(value, bool) and isinstance(value, Real)
    if item is int:
        return not isinstance(value, bool) and isinstance(value, Integral)
    return isinstance(value, item)
