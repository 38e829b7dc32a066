"""Plugins from one function: a metric of candidates and references, a distance of two
texts, an embedding of texts.

The decorators return the function itself, with the class of the component as the
attribute ``harness_component``. The catalogue, the conformance kit and
``harness.score`` create that class where they meet the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from harness.contracts import Values
from harness.contracts.metrics import SET_SIZES
from harness.contracts.parameters import type_hints
from harness.errors import HarnessError
from harness.registry.function_components import (
    ATTRIBUTE,
    FunctionDistance,
    FunctionEmbedding,
    FunctionMetric,
    FunctionPlugin,
    PlainFunction,
)

Function = TypeVar("Function", bound=PlainFunction)
TEXT_ARGUMENTS = ("candidates", "references", "source", "media", "meta")
"""Arguments of a metric by name; further ones without default are candidates and
references, in this order.
"""


@overload
def metric_function(function: Function, /) -> Function: ...
@overload
def metric_function(
    *,
    name: str = "",
    higher_is_better: bool | None = None,
    bounds: tuple[float, float] | None = None,
) -> Callable[[Function], Function]: ...
def metric_function(
    function: Any = None,
    /,
    *,
    name: str = "",
    higher_is_better: bool | None = None,
    bounds: tuple[float, float] | None = None,
) -> Any:
    """Make a metric of a function that scores one example.

    The number of a run is the mean over the examples, with a bootstrap interval, paired
    tests and, where the metric has a direction and compares candidates with references,
    permutation p-values.

    Parameters
    ----------
    function : callable
        ``function(candidates, references, **parameters) -> float``, both lists of
        texts; NaN where undefined. Arguments ``source``, ``media`` and ``meta`` are
        those of the example. Arguments with a default are parameters of the metric.
    name : str, optional
        Name of the metric in tables; default: the function's name with ``-`` for ``_``.
    higher_is_better : bool, optional
        Direction; None: the metric has none.
    bounds : pair of float, optional
        Smallest and largest score.

    Raises
    ------
    HarnessError
        An argument without default is neither text nor known.

    Examples
    --------
    >>> @metric_function(higher_is_better=True)
    ... def overlap(candidates: list[str], references: list[str]) -> float:
    ...     "Share of the words of the first candidate that occur in a reference."
    ...     words = set(" ".join(references).split())
    ...     return sum(word in words for word in candidates[0].split()) / len(
    ...         candidates[0].split()
    ...     )
    >>> overlap(["a dog"], ["a cat"])
    0.5
    """

    def decorate(function: Function) -> Function:
        texts = _text_arguments(function)
        roles = frozenset(texts.values())
        needs = {"references": "references", "media": "images"}
        label = name or _name(function)
        properties = {
            "name": label,
            "higher_is_better": higher_is_better,
            "needs": frozenset(needs[role] for role in roles & needs.keys()),
            "bounds": bounds,
            # A function of whole lists may depend on their lengths.
            "depends_on": roles & frozenset(SET_SIZES),
        }
        members = {"texts": texts, "properties": properties}
        return _with_component(function, FunctionMetric, label, tuple(texts), members)

    return decorate if function is None else decorate(function)


@overload
def distance_function(function: Function, /) -> Function: ...
@overload
def distance_function(
    *, name: str = "", symmetric: bool = False
) -> Callable[[Function], Function]: ...
def distance_function(
    function: Any = None, /, *, name: str = "", symmetric: bool = False
) -> Any:
    """Make a distance of a function of two texts.

    Parameters
    ----------
    function : callable
        ``function(hypothesis, reference, **parameters) -> float``: at least 0, and 0
        for equal texts.
    name : str, optional
        Name of the distance; default: the function's name with ``-`` for ``_``.
    symmetric : bool
        The distance does not depend on the order: half of the pairs are computed.

    Examples
    --------
    >>> @distance_function(symmetric=True)
    ... def length_difference(a: str, b: str) -> float:
    ...     return abs(len(a) - len(b))
    """

    return _decorate(
        function,
        "distance_function",
        FunctionDistance,
        2,
        name,
        {"symmetric": symmetric},
    )


@overload
def embedding_function(function: Function, /) -> Function: ...
@overload
def embedding_function(*, name: str = "") -> Callable[[Function], Function]: ...
def embedding_function(function: Any = None, /, *, name: str = "") -> Any:
    """Make an embedding of a function of texts.

    Parameters
    ----------
    function : callable
        ``function(texts, **parameters)``: a list of T texts to an array of shape (T,
        d). A vector depends on its text alone.
    name : str, optional
        Name of the embedding; default: the function's name with ``-`` for ``_``.
    """

    return _decorate(function, "embedding_function", FunctionEmbedding, 1, name, {})


def _decorate(
    function: Any,
    decorator: str,
    base: type[FunctionPlugin],
    count: int,
    name: str,
    members: Values,
) -> Any:
    """Return the function with the class of its component, or the decorator without
    one; it takes ``count`` texts.
    """

    def decorate(function: Function) -> Function:
        texts = _list_required_arguments(function)
        if len(texts) != count:
            raise HarnessError(
                f"{decorator}: {function.__name__} has {len(texts)} arguments "
                f"without default; expected {count}"
            )
        label = name or _name(function)
        return _with_component(function, base, label, texts, {"name": label, **members})

    return decorate if function is None else decorate(function)


def _name(function: PlainFunction) -> str:
    """Return the name of a component without one of its own."""
    return function.__name__.replace("_", "-")


def _list_required_arguments(function: PlainFunction) -> tuple[str, ...]:
    """Return the names of the positional arguments without default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in kinds and parameter.default is inspect.Parameter.empty
    )


def _text_arguments(function: PlainFunction) -> dict[str, str]:
    """Return argument -> role (one of :data:`TEXT_ARGUMENTS`) of the arguments that a
    metric fills from an example.
    """
    names = _list_required_arguments(function)
    free = [role for role in ("candidates", "references") if role not in names]
    roles: dict[str, str] = {}
    for name in names:
        if name not in TEXT_ARGUMENTS and not free:
            raise HarnessError(
                f"metric_function: {function.__name__} has the argument '{name}' "
                f"without default; a metric gets {', '.join(TEXT_ARGUMENTS)}; "
                "a parameter of the metric needs a default",
                parameter=name,
            )
        roles[name] = name if name in TEXT_ARGUMENTS else free.pop(0)

    # These are filled from the example with a default too.
    arguments = inspect.signature(function).parameters
    for name in ("source", "media", "meta"):
        if name in arguments:
            roles.setdefault(name, name)
    if "candidates" not in roles.values():
        raise HarnessError(
            f"metric_function: {function.__name__} takes no candidates; "
            "expected a first argument for them"
        )
    return roles


def _with_component(
    function: Function,
    base: type[FunctionPlugin],
    label: str,
    texts: Sequence[str],
    members: Values,
) -> Function:
    """Set the class of the component on a function and return the function."""
    arguments = inspect.signature(function).parameters.values()
    catch_all = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for argument in arguments:
        if argument.kind in catch_all:
            raise HarnessError(
                f"{label}: the argument '{argument.name}' of the function takes any "
                "number of values; name the parameters"
            )
    parameters = [
        argument.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for argument in arguments
        if argument.name not in texts
    ]

    def __init__(self: FunctionPlugin, **parameters: Any) -> None:
        self.parameters = parameters
        self.configure()

    # The constructor is read as if its parameters were written out.
    hints = type_hints(function)
    names = [parameter.name for parameter in parameters]
    __init__.__annotations__ = {name: hints[name] for name in names if name in hints}
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([itself, *parameters])
    setattr(__init__, "__signature__", signature)  # noqa: B010

    members = {
        "__init__": __init__,
        "__doc__": inspect.getdoc(function) or f"The function {function.__name__}.",
        "__module__": function.__module__,
        "__qualname__": function.__qualname__,
        "function": staticmethod(function),
        "label": label,
        **members,
    }
    setattr(function, ATTRIBUTE, type(function.__name__, (base,), members))
    return function
