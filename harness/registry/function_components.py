"""Components of functions: a metric, a distance or an embedding that calls one function
of a plugin.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

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
from harness.contracts.metrics import State
from harness.errors import HarnessError

PlainFunction = Callable[..., Any]
"""A function of a plugin, before its arguments are checked."""
ATTRIBUTE = "harness_component"
"""Attribute of a decorated function: the class of its component."""


def component_of(value: Any) -> Any:
    """Return the class of the component of a decorated function; any other value as it
    is.
    """
    return vars(value).get(ATTRIBUTE, value) if inspect.isfunction(value) else value


class FunctionPlugin(Parameterised):
    """Base of the components of functions."""

    function: ClassVar[PlainFunction]
    label: ClassVar[str]
    kind: ClassVar[str] = ""
    parameters: Values

    def configure(self) -> None:
        """Set what depends on the parameters; called at the end of the constructor."""

    def __reduce__(self) -> tuple[PlainFunction, tuple[str, str, Values]]:
        """Return the call by which a worker process creates the component again, by the
        name of its function.
        """
        cls = type(self)
        return _create, (cls.__module__, cls.__qualname__, self.parameters)

    def call(self, scored_item: str, *arguments: Any, **keywords: Any) -> Any:
        """Call the function; raise :class:`HarnessError` with ``scored_item`` for what
        it raises.
        """
        try:
            return type(self).function(*arguments, **keywords, **self.parameters)
        except HarnessError:
            raise
        except Exception as error:
            text = type(error).__name__
            if str(error):
                text = f"{text}: {error}"
            raise HarnessError(
                f"{self.kind} '{self.label}' raised {text} for {scored_item}"
            ) from error

    def number(self, value: Any, scored_item: str) -> float:
        """Return a result of the function as a number; raise :class:`HarnessError` for
        anything else.
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
    """Return the component of a function of a module, by the qualified name of it."""
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
        # The texts may have any names, and go by position; the others go by name.
        positional: list[object] = []
        keywords: Values = {}
        for name, role in self.texts.items():
            if name == role and role not in ("candidates", "references"):
                keywords[name] = values[role]
            else:
                positional.append(values[role])
        result = self.call(scored_item, *positional, **keywords)
        score = self.number(result, scored_item)
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
                result = self.call(scored_item, distinct[i], distinct[j])
                matrix[i, j] = self.number(result, scored_item)
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
        """Return the vectors, float32, shape (T, d); raise :class:`HarnessError` for a
        result of another shape.
        """
        value = self.call(f"{len(texts)} texts", list(texts))
        if hasattr(value, "detach"):
            # A tensor of torch.
            value = value.detach().cpu().numpy()
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
