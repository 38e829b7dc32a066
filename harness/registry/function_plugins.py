"""Plugins from one function: a metric of candidates and references, a distance of two
texts, an embedding of texts.

The decorators return the function itself, with the class of the component as the
attribute ``harness_component``. The catalogue, the conformance kit and
``harness.score`` create that class where they meet the function.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Features,
    MeanMetric,
    MetricSpec,
    Parameterised,
    TextDistance,
    Values,
)
from harness.contracts import signature_with_parameters as joined
from harness.contracts.metrics import SET_SIZES, State
from harness.contracts.parameters import type_hints
from harness.errors import HarnessError

PlainFunction = Callable[..., Any]
"""A function of a plugin, before its arguments are checked."""

Function = TypeVar("Function", bound=PlainFunction)
ATTRIBUTE = "harness_component"
"""Attribute of a decorated function: the class of its component."""
TEXT_ARGUMENTS = ("candidates", "references", "source", "media", "meta")
"""Arguments of a metric by name; further ones without default are candidates and
references, in this order.
"""


def component_of(value: Any) -> Any:
    """Return the class of the component of a decorated function;
    any other value as it is.
    """
    return vars(value).get(ATTRIBUTE, value) if inspect.isfunction(value) else value


# --------------------------------------------------------------------------- decorators
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
        needs = {"references": "references", "media": "images"}
        label = name or _name(function)
        members = {
            "texts": texts,
            "properties": {
                "name": label,
                "higher_is_better": higher_is_better,
                "needs": frozenset(
                    needs[role] for role in texts.values() if role in needs
                ),
                "bounds": bounds,
                # a function of the whole lists
                "depends_on": frozenset(texts.values()) & frozenset(SET_SIZES),
            },
        }
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
    return function.__name__.replace("_", "-")


def _list_required_arguments(function: PlainFunction) -> tuple[str, ...]:
    """Return the names of the positional arguments without default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    values = inspect.signature(function).parameters.values()
    return tuple(
        p.name
        for p in values
        if p.kind in kinds and p.default is inspect.Parameter.empty
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
            needs = (
                f"a metric gets {', '.join(TEXT_ARGUMENTS)}; "
                "a parameter of the metric needs a default"
            )
            raise HarnessError(
                f"metric_function: {function.__name__} has the argument '{name}' "
                f"without default; {needs}",
                parameter=name,
            )
        roles[name] = name if name in TEXT_ARGUMENTS else free.pop(0)
    optional = inspect.signature(function).parameters
    roles |= {
        name: name
        for name in ("source", "media", "meta")
        if name in optional and name not in roles
    }
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
    signature = inspect.signature(function)
    catch_all = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for p in signature.parameters.values():
        if p.kind in catch_all:
            raise HarnessError(
                f"{label}: the argument '{p.name}' of the function takes any number "
                "of values; name the parameters"
            )
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for p in signature.parameters.values()
        if p.name not in texts
    ]

    def __init__(self: FunctionPlugin, **parameters: Any) -> None:
        self.parameters = parameters
        self.configure()

    hints = type_hints(function)
    __init__.__annotations__ = {
        p.name: hints[p.name] for p in parameters if p.name in hints
    }
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    setattr(__init__, "__signature__", inspect.Signature([itself, *parameters]))  # noqa: B010
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


# --------------------------------------------------------------------------- components
class FunctionPlugin(Parameterised):
    """Base of the components of functions."""

    function: ClassVar[PlainFunction]
    label: ClassVar[str]
    kind: ClassVar[str] = ""
    parameters: Values

    def configure(self) -> None:
        """Set what depends on the parameters; called at the end of the constructor."""

    def __reduce__(self) -> tuple[PlainFunction, tuple[str, str, Values]]:
        """Return how a worker process creates the component again:
        by the name of its function.
        """
        return _create, (
            type(self).__module__,
            type(self).__qualname__,
            self.parameters,
        )

    def call(self, scored_item: str, *arguments: Any, **keywords: Any) -> Any:
        """Call the function; raise :class:`HarnessError` with ``place`` for what it
        raises.
        """
        try:
            return type(self).function(*arguments, **keywords, **self.parameters)
        except HarnessError:
            raise
        except Exception as error:
            text = (
                f"{type(error).__name__}: {error}"
                if str(error)
                else type(error).__name__
            )
            raise HarnessError(
                f"{self.kind} '{self.label}' raised {text} for {scored_item}"
            ) from error

    def number(self, value: Any, scored_item: str) -> float:
        """Return a result of the function as a number;
        raise :class:`HarnessError` for anything else.
        """
        try:
            if np.ndim(value) == 0 and not isinstance(value, (str, bytes)):
                return float(value)
        except (TypeError, ValueError):
            pass
        raise HarnessError(
            f"{self.kind} '{self.label}' returned {value!r:.80} for {scored_item}; "
            "expected one number"
        )


def _create(module: str, name: str, parameters: Values) -> Any:
    value: Any = importlib.import_module(module)
    for attribute in name.split("."):
        value = getattr(value, attribute)
    return component_of(value)(**parameters)


class FunctionMetric(FunctionPlugin, MeanMetric):
    """Mean over the examples of a function of candidates and references."""

    kind = "metric"
    texts: ClassVar[dict[str, str]]
    """Argument of the function -> role."""
    properties: ClassVar[Values]
    """Properties of the metric, as in its spec."""

    def configure(self) -> None:
        """Set the spec."""
        self.spec = MetricSpec(**self.properties)

    def scores(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return the results of the function, float64, shape (B,); raise
        :class:`HarnessError` for one that is no finite number or NaN.
        """
        return np.array([self._score(item) for item in batch.sets], dtype=np.float64)

    def _score(self, item: CaptionSet) -> float:
        scored_item = f"example '{item.id}'"
        values = {
            "candidates": list(item.candidates),
            "references": list(item.references),
            "source": item.source,
            "media": item.media,
            "meta": dict(item.meta),
        }
        keywords = [
            name
            for name, role in self.texts.items()
            if name == role and role not in ("candidates", "references")
        ]
        positional = [
            values[role] for name, role in self.texts.items() if name not in keywords
        ]
        extra = {name: values[name] for name in keywords}
        score = self.number(self.call(scored_item, *positional, **extra), scored_item)
        if np.isinf(score):
            raise HarnessError(
                f"metric '{self.label}' returned {score} for {scored_item}; "
                "expected a finite number, or NaN where undefined"
            )
        return score


class FunctionDistance(FunctionPlugin, TextDistance):
    """Distance of two texts by a function."""

    kind = "distance"
    symmetric: ClassVar[bool] = False

    def pairwise(self, texts: Sequence[str]) -> np.ndarray:
        """Return the distances of all pairs, float64, shape (T, T); raise
        :class:`HarnessError` for a result that is no number.
        """
        distinct = list(dict.fromkeys(texts))
        size = len(distinct)
        matrix = np.zeros((size, size))
        for i in range(size):
            for j in range(i if self.symmetric else 0, size):
                scored_item = f"the pair {distinct[i]!r:.60}, {distinct[j]!r:.60}"
                matrix[i, j] = self.number(
                    self.call(scored_item, distinct[i], distinct[j]), scored_item
                )
                if self.symmetric:
                    matrix[j, i] = matrix[i, j]
        rows = [distinct.index(text) for text in texts]
        return matrix[np.ix_(rows, rows)]


class FunctionEmbedding(FunctionPlugin):
    """Embedding of texts by a function."""

    kind = "embedding"
    name: ClassVar[str]

    def signature(self) -> str:
        """Return the name and the parameters."""
        return joined(self.name, self.constructor_parameters)

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: a vector depends on its text alone."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors, float32, shape (T, d);
        raise :class:`HarnessError` for a result of another shape.
        """
        value = self.call(f"{len(texts)} texts", list(texts))
        # a tensor of torch
        value = value.detach().cpu().numpy() if hasattr(value, "detach") else value
        try:
            array = np.asarray(value, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise HarnessError(
                f"embedding '{self.label}' returned {value!r:.80}; "
                "expected an array of shape (T, d)"
            ) from error
        if array.ndim != 2 or len(array) != len(texts):
            raise HarnessError(
                f"embedding '{self.label}' returned shape {array.shape} for "
                f"{len(texts)} texts; expected ({len(texts)}, d)"
            )
        return array
