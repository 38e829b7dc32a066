"""Base classes that supply most of a contract: metrics that are means or numbers of a
corpus, and distances of two texts.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness.contracts.data import Batch, CaptionSet
from harness.contracts.features import Distance, Embedding, Features
from harness.contracts.metrics import Cost, Metric, MetricSpec, State
from harness.contracts.objects import Objects, example_scores
from harness.contracts.parameters import Parameters, Values
from harness.contracts.sums import weighted_means, weighted_sums

FITTED_FIELDS = ("held_fixed", "testable_from", "untestable")
"""Fields of a metric's specification that an embedding or distance has as attributes.
"""
_NETWORK_WIDTH = 400
"""Length of the vectors of small networks."""


class Parameterised:
    """Base that records the constructor arguments of an instance, as given, for its
    default signature.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        init = cls.__init__
        if init is not object.__init__ and not hasattr(init, "records_parameters"):
            # type checkers reject an assignment to __init__
            setattr(cls, "__init__", _recording(init))  # noqa: B010

    @property
    def constructor_parameters(self) -> Parameters:
        """Constructor arguments by name, without those that equal their defaults."""
        recorded = self.__dict__.get("_constructor_parameters")
        # The __init__ of a dataclass is generated after the class is created, and does
        # not record.
        records = hasattr(type(self).__init__, "records_parameters")
        if records or not dataclasses.is_dataclass(self):
            return recorded or {}
        values: Values = {}
        for field in dataclasses.fields(self):
            if not field.init:
                continue
            value = getattr(self, field.name)
            if not _is_field_default(value, field):
                values[field.name] = value
        return values


def _recording(init: Callable[..., None]) -> Callable[..., None]:
    """Return ``init`` wrapped so that the outermost call records its arguments on the
    instance.
    """
    signature = inspect.signature(init)

    @functools.wraps(init)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> None:
        if "_constructor_parameters" not in self.__dict__:
            self.__dict__["_constructor_parameters"] = _bound(signature, args, kwargs)
        init(self, *args, **kwargs)

    # functions have no such declared attribute
    setattr(recorded, "records_parameters", True)  # noqa: B010
    return recorded


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Values
) -> Values:
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError:  # the call of the constructor itself reports what does not fit
        return {}

    # The first argument is the instance.
    out: Values = {}
    for name, value in list(bound.arguments.items())[1:]:
        parameter = signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            out.update(value)
        elif not _is_default(value, parameter.default):
            out[name] = value
    return out


def _is_default(value: object, default: object) -> bool:
    return value is default or (
        isinstance(value, (str, int, float))
        and type(value) is type(default)
        and value == default
    )


def _is_field_default(value: object, field: dataclasses.Field[Any]) -> bool:
    """Return True when a value equals the default of its dataclass field, or the result
    of its default factory.
    """
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
        return type(value) is type(default) and bool(value == default)
    return _is_default(value, field.default)


def signature_with_parameters(name: str, parameters: Parameters) -> str:
    """Return ``name`` followed by the parameters, sorted:
    a signature that differs between two settings.

    >>> signature_with_parameters("overlap", {"n": 2, "lower": True})
    'overlap|lower:True|n:2'
    """
    return "|".join(
        [name, *(f"{key}:{value}" for key, value in sorted(parameters.items()))]
    )


class TextDistance(Parameterised):
    """Base of a distance that depends on the two texts alone.

    A subclass defines ``name`` and ``pairwise``.
    """

    name = "unnamed"

    def signature(self) -> str:
        """Return the name and the constructor parameters."""
        return signature_with_parameters(self.name, self.constructor_parameters)

    def pairwise(self, texts: Sequence[str]) -> np.ndarray:
        """Return distances, float64, shape (T, T): entry (i, j) has text i as
        hypothesis and text j as reference.
        """
        raise NotImplementedError(f"{type(self).__name__} must define pairwise(texts)")

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances of all pairs of each example, float64, shape (B, N,
        N).
        """
        matrices = [np.asarray(self.pairwise(t), dtype=np.float64) for t in batch.texts]
        return np.stack(matrices)


class _NamedBySpec(Parameterised):
    """Base of metrics: a signature by the specification, no corpus state, a usual
    cost.
    """

    spec: MetricSpec

    def signature(self) -> str:
        """Return the metric's name and the constructor parameters."""
        return signature_with_parameters(self.spec.name, self.constructor_parameters)

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> State:
        """Return None: there is no corpus state."""
        return None

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of a metric that reads each word once; one of level ``set``
        has arrays of all pairs of texts too.

        Vectors have the length of the attribute ``dimensions`` of the metric's
        embedding, else that of small networks.
        """
        texts = n + m
        has_vectors = "embeddings" in self.spec.needs
        width = 0
        if has_vectors:
            embedding = getattr(self, "embedding", None)
            width = getattr(embedding, "dimensions", _NETWORK_WIDTH)
        pairs = texts**2 if self.spec.level == "set" else 0
        seconds = (2e-6 * tokens + 3e-3 * has_vectors) * texts + 1e-7 * pairs

        # In memory at once: vectors in float32, and a copy of them in float64.
        batch_bytes = 300.0 * texts * tokens + 12.0 * width * texts + 64.0 * pairs

        # What stays until the number is known: vectors, or words.
        stays = 200.0
        if self.spec.level == "corpus":
            stays = 8.0 * texts * (width or tokens)
        return Cost(seconds, batch_bytes, corpus=stays)


def fitted_fields(component: Embedding | Distance) -> dict[str, Any]:
    """Return the fields of a metric's specification that say what an embedding or
    distance is fitted on, from its attributes.
    """
    return {
        name: getattr(component, name)
        for name in FITTED_FIELDS
        if hasattr(component, name)
    }


def has_corpus_state(metric: Metric) -> bool:
    """Return True for a metric that declares that its statistics depend on the
    references of other examples.

    It does so by a ``fit`` of its own or by ``MetricSpec.held_fixed``.
    """
    return (
        bool(metric.spec.held_fixed)
        or getattr(type(metric), "fit", None) is not _NamedBySpec.fit
    )


class MeanMetric(_NamedBySpec):
    """Base of a metric whose number is the mean of its per-example scores.

    Statistics have shape (B, 1).

    The base class supplies a permutation null (:meth:`null`), so that the metric has
    p-values. A metric that no permutation of the texts tests sets
    ``MetricSpec.untestable`` to the reason.
    """

    def scores(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return scores, float64, shape (B,), NaN where undefined."""
        raise NotImplementedError(
            f"{type(self).__name__} must define scores(batch, features, state)"
        )

    def stats(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return the scores as statistics, shape (B, 1)."""
        scores = self.scores(batch, features, state)
        return np.asarray(scores, dtype=np.float64).reshape(len(batch), 1)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """Return the scores, shape (B,)."""
        return stats[:, 0]

    def null(
        self, batch: Batch, features: Features, state: State, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores of each example under relabelings, shape (B, P),
        NaN where undefined.

        The texts of each example are divided into candidates and references by each row
        of ``labels`` and scored again: P x B scorings, equal rows once. A subclass with
        a faster way overrides this method. A run bounds the number of scorings of this
        one (``significance.scorings``).

        Parameters
        ----------
        batch : Batch
            B examples of n candidates and m references.
        features : Features
            Feature cache of the run.
        state : object
            Corpus state, from :meth:`fit`.
        labels : array of bool
            Relabelings, shape (P, n + m), True for a candidate.
        """
        distinct, column_of = np.unique(
            np.asarray(labels, dtype=bool), axis=0, return_inverse=True
        )
        texts = batch.texts
        scores = np.full((len(batch), len(distinct)), np.nan)
        for column, row in enumerate(distinct):
            relabeled = relabeled_batch(batch, texts, row, features)
            stats = self.stats(relabeled, features, state)
            scores[:, column] = example_scores(self, stats)

        # NumPy 2.0 returns the inverse as a column, other versions as a row.
        return scores[:, column_of.reshape(-1)]

    def reduce(self, stats: Any, weights: np.ndarray | None = None) -> Any:
        """Return the mean score, NaN without rows, or weighted means (W,) for
        ``weights`` of shape (W, B).
        """
        if weights is None:
            return float(stats[:, 0].mean()) if len(stats) else float("nan")
        return weighted_means(np.asarray(weights, dtype=np.float64), stats[:, 0])

    def summands(self, stats: np.ndarray) -> np.ndarray:
        """Return the scores and ones, shape (B, 2), whose sums determine the mean."""
        return np.column_stack([stats[:, 0], np.ones(len(stats))])

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return means (...) from sums of summands (..., 2), NaN where the number of
        examples is 0.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[..., 0] / sums[..., 1]


class SumMetric(MeanMetric):
    """Base of a metric whose number is a function of sums over examples,
    as BLEU is one of counts.

    A subclass defines ``spec``, :meth:`addends` and :meth:`of_sums`. The score of an
    example is the number of its own addends. A subclass with another score, or one that
    computes it beside the addends, overrides :meth:`stats`: the score, then the
    addends. Sums are resampled by a matrix product.
    """

    def addends(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return what is summed over examples, float64, shape (B, k)."""
        raise NotImplementedError(
            f"{type(self).__name__} must define addends(batch, features, state)"
        )

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the numbers (...) of sums of addends (..., k), NaN where undefined."""
        raise NotImplementedError(f"{type(self).__name__} must define of_sums(sums)")

    def stats(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return the score of each example and its addends, shape (B, 1 + k); an
        example whose score is NaN is left out.
        """
        addends = np.asarray(self.addends(batch, features, state), dtype=np.float64)
        return np.column_stack([self.of_sums(addends), addends])

    def summands(self, stats: np.ndarray) -> np.ndarray:
        """Return the addends of statistics, shape (B, k)."""
        return stats[:, 1:]

    def reduce(self, stats: Any, weights: np.ndarray | None = None) -> Any:
        """Return the number of all examples, NaN without any, or one number per row of
        ``weights`` (W, B), shape (W,).
        """
        summands = self.summands(stats)
        if weights is not None:
            return self.of_sums(weighted_sums(weights, summands))
        if not len(stats):
            return float("nan")
        return float(self.of_sums(summands.sum(axis=0, keepdims=True))[0])


class CorpusMetric(_NamedBySpec):
    """Base of a metric whose number is a function of objects of all examples, such as
    their vectors or counts of n-grams.

    A subclass defines ``spec``, :meth:`collect` and :meth:`number`. The objects of the
    shards of a run are stored as arrays and joined in the order of the examples
    (:class:`~harness.contracts.Objects`), so that no process holds the texts of all.

    The interval is a bootstrap that repeats examples. A metric whose number repeated
    examples would bias, such as one that counts distinct words, sets
    ``MetricSpec.resampled`` to False.
    """

    def collect(
        self, batch: Batch, features: Features, state: State
    ) -> Sequence[object]:
        """Return one object per example, length B: an array, a mapping from names to
        arrays, or a JSON value; None where undefined.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define collect(batch, features, state)"
        )

    def number(self, objects: Objects) -> float:
        """Return the number of a corpus of at least one example, NaN where it is
        undefined.
        """
        raise NotImplementedError(f"{type(self).__name__} must define number(objects)")

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return one number per row of ``weights`` (W, B), shape (W,): integers, which
        say how often an example counts.

        A subclass with a faster way overrides this method.
        """
        rows = np.arange(len(objects))
        repeated = (np.repeat(rows, row.astype(np.int64)) for row in weights)
        return np.array([self.reduce(objects[examples]) for examples in repeated])

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return NaN for each example, shape (B,): the number belongs to the corpus.

        A subclass may give scores.
        """
        return np.full(len(stats), np.nan)

    def stats(self, batch: Batch, features: Features, state: State) -> Objects:
        """Return what :meth:`collect` returns as arrays."""
        return Objects.of(self.collect(batch, features, state), self.spec.name)

    def reduce(self, stats: Objects, weights: np.ndarray | None = None) -> Any:
        """Return the number of B examples, NaN without examples, or one number per row
        of ``weights`` (W, B), shape (W,).
        """
        if weights is None:
            return self.number(stats) if len(stats) else float("nan")
        if not len(stats):
            return np.full(len(weights), np.nan)
        return self.numbers(stats, np.asarray(weights, dtype=np.float64))


def relabeled_batch(
    batch: Batch, texts: Sequence[Sequence[str]], labels: np.ndarray, features: Features
) -> Batch:
    """Return the examples with the texts (B lists of N) labelled True as candidates and
    the others as references.
    """
    candidates = np.flatnonzero(labels).tolist()
    references = np.flatnonzero(~labels).tolist()
    sets = [
        CaptionSet(
            item.id,
            tuple([row[k] for k in candidates]),
            tuple([row[k] for k in references]),
            item.media,
            item.source,
            item.meta,
        )
        for item, row in zip(batch.sets, texts)
    ]
    return features.batch(sets)
