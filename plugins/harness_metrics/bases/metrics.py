"""Bases that metrics of several families share,
and values of texts and candidates by example.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from caption_kernels.batches import ngram
from harness import registry
from harness.contracts import (
    Batch,
    Cost,
    Distance,
    Embedding,
    Features,
    Level,
    Metric,
    MetricSpec,
    Warms,
    cost_of,
    fitted_fields,
    merge_states,
)
from harness.contracts.bases import MeanMetric, Parameterised
from harness.stats.significance import untestable_reason

# --------------------------------------------------------------------------- embeddings
# Metrics over an embedding: its resolution, the needs of the metric, its displayed name
# and its signature.


T = TypeVar("T")
EmbeddingSpec = str | Mapping[str, Any] | Embedding
"""A registered embedding: name, ``{name: {parameters}}`` or instance."""


class EmbeddingMetric(Parameterised):
    """Base of metrics over an embedding, shown as ``name(embedding, arguments)``.

    Parameters
    ----------
    name : str
        Registered name.
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    higher : bool or None
        Direction of the metric.
    *arguments : str
        Further parts of the displayed name.
    level : str
        Level of the metric.
    references : bool
        True for a metric that reads the references.
    settings : sequence of str, optional
        Further parts of the signature; by default the arguments.
    **fields
        Further fields of the :class:`MetricSpec`.
    """

    spec: MetricSpec

    def __init__(
        self,
        name: str,
        embedding: EmbeddingSpec,
        higher: bool | None,
        *arguments: str,
        level: Level = "set",
        references: bool = True,
        settings: Sequence[str] | None = None,
        **fields: Any,
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        signature_settings = arguments if settings is None else settings
        self._signature = "|".join(
            [name, *signature_settings, self.embedding.signature()]
        )
        needs = {
            "embeddings",
            *getattr(self.embedding, "needs", ()),
            *(["references"] if references else []),
        }
        label = f"{name}({', '.join([self.embedding.name, *arguments])})"
        self.spec = replace(
            MetricSpec(label, higher, level, frozenset(needs)),
            **{**fitted_fields(self.embedding), **fields},
        )

    def signature(self) -> str:
        """Return the name, the settings and the signature of the embedding,
        such as ``mmd|minilm``.
        """
        return self._signature


# --------------------------------------------------------------------------- distances
# Metrics that depend on the pairwise distances of an example's texts alone.


DistanceSpec = str | Mapping[str, Any] | Distance


class DistanceMetric(MeanMetric):
    """Mean over examples of a function of the distances between their texts.

    A subclass defines ``scores``. It is shown as ``name(distance, options)``.

    Parameters
    ----------
    name : str
        Registered name.
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    higher : bool or None
        Direction of the metric.
    *options : str
        Further parts of the displayed name and the signature.
    references : bool
        True for a metric that reads the references.
    **fields
        Further fields of the :class:`MetricSpec`.
    """

    def __init__(
        self,
        name: str,
        distance: DistanceSpec,
        higher: bool | None,
        *options: str,
        references: bool = True,
        **fields: Any,
    ) -> None:
        self.distance: Distance = registry.resolve("distances", distance)
        self._signature = "|".join([name, *options, self.distance.signature()])
        needs = frozenset({"references"} if references else ()) | frozenset(
            getattr(self.distance, "needs", ())
        )
        arguments = ", ".join([self.distance.name, *options])
        spec = MetricSpec(f"{name}({arguments})", higher, "set", needs)
        self.spec = replace(spec, **{**fitted_fields(self.distance), **fields})

    def signature(self) -> str:
        """Return the name, the options and the signature of the distance, such as
        ``semantic-entropy|0.3|cosine|minilm``.
        """
        return self._signature

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the distances of all pairs; a distance may declare
        ``pair_seconds(tokens)``.
        """
        cost = super().cost(n, m, tokens, tested=tested)
        pairs = (n + m) ** 2
        declared: Callable[[float], float] | None = getattr(
            self.distance, "pair_seconds", None
        )
        seconds = declared(tokens) if declared is not None else 1e-7 * tokens
        return replace(
            cost,
            seconds=cost.seconds + seconds * pairs,
            bytes=cost.bytes + 30.0 * pairs,
        )

    def warm(self) -> None:
        """Start the first-use work of the distance, if it has any."""
        if isinstance(self.distance, Warms):
            self.distance.warm()


# --------------------------------------------------------------------------- relabelings
# Metrics whose score is their permutation null under the observed labels, and loops
# over blocks of relabelings.


def observed_labels(n: int, m: int) -> np.ndarray:
    """Return the labels of n candidates that come before m references, bool,
    shape (1, n + m).

    >>> observed_labels(2, 1).tolist()
    [[True, True, False]]
    """
    return (np.arange(n + m) < n)[None]


def evaluate_labels(
    examples: Sequence[T] | np.ndarray,
    labels: np.ndarray,
    step: int,
    prepare: Callable[[T], Callable[[np.ndarray], np.ndarray]],
) -> np.ndarray:
    """Return a statistic of B examples under relabelings, float64, shape (B, P).

    Parameters
    ----------
    examples : sequence, or ndarray of shape (B, ...)
        Data of each example, such as its matrix of distances.
    labels : ndarray, shape (P, N)
        Labels, True for a candidate.
    step : int
        Number of relabelings that are evaluated at once, so that temporary arrays stay
        in the cache.
    prepare : callable
        Does what does not depend on labels, once per example; returns a function from
        labels (p, N), bool, to values (p,).

    Examples
    --------
    >>> points = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> evaluate_labels(
    ...     points,
    ...     np.array([[True, False]]),
    ...     8,
    ...     lambda row: lambda labels: labels @ row,
    ... ).tolist()
    [[1.0], [3.0]]
    """
    labels = np.asarray(labels, dtype=bool)
    out = np.empty((len(examples), len(labels)))
    for row, example in enumerate(examples):
        statistic = prepare(example)
        for start in range(0, len(labels), step):
            out[row, start : start + step] = statistic(labels[start : start + step])
    return out


class RelabeledMetric(MeanMetric):
    """Mean of a statistic of two samples whose value under any labels is as easy to
    compute as the observed one.

    A subclass defines ``null``; the score of an example is the value under the observed
    labels, so that both cannot differ.
    """

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the statistic of each example, shape (B,)."""
        return self.null(batch, features, state, observed_labels(batch.n, batch.m))[
            :, 0
        ]


class BestMatchMetric(RelabeledMetric):
    """Mean over candidates of the best pairwise score over references,
    with its permutation null.

    A subclass sets ``spec`` and defines ``signature()`` and :meth:`pairwise`. The best
    score is the largest, or the smallest where ``spec.higher_is_better`` is False.
    """

    spec: MetricSpec

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the scores (B, N, N) of all pairs of a batch, rows the hypothesis;
        every subclass defines it.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define pairwise(batch, features)"
        )

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the scores of all pairs,
        by vectors of the words of each text.
        """
        cost = super().cost(n, m, tokens)
        texts = n + m
        return replace(
            cost,
            seconds=cost.seconds + 3e-4 * texts**2,
            bytes=cost.bytes + 64.0 * texts**2,
            fixed=2.5e5 * texts,
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N),
        True = candidate.
        """
        # the kernel takes the largest score over references
        sign = 1.0 if self.spec.higher_is_better else -1.0
        matrix = np.asarray(self.pairwise(batch, features), dtype=np.float64)
        return sign * ngram.relabel_best(sign * matrix, labels)


# --------------------------------------------------------------------------- inner metrics
# Corpus state of a metric that is composed of another one.


class FitsInner:
    """Mixin of metrics whose corpus state is that of the metric ``inner``,
    in one pass or shard by shard.
    """

    inner: Metric

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the corpus state of the inner metric."""
        return self.inner.fit(references, features)

    def merge(self, first: Any, second: Any) -> Any:
        """Return the corpus state of two shards together."""
        return merge_states(self.inner, first, second)

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the inner metric."""
        return cost_of(self.inner, n, m, tokens, tested=tested)


def untestable_by(inner: Metric) -> str:
    """Return the reason why no permutation tests a metric that scores by another one;
    an empty text where one does.
    """
    reason = untestable_reason(inner)
    return f"scores captions by {inner.spec.name}, which {reason}" if reason else ""


# --------------------------------------------------------------------------- values by example
# Features of texts and scores of candidates, example by example.


def features_by_example(
    features: Features,
    batch: Batch,
    key: Hashable,
    compute: Callable[[list[str]], Sequence[T]],
) -> list[tuple[list[T], list[T]]]:
    """Return a feature of the candidates and of the references of each example,
    computed once for each distinct text of a run.

    Parameters
    ----------
    features : Features
        Feature cache of the run.
    batch : Batch
        B examples.
    key : hashable
        Key of the feature in the cache.
    compute : callable
        Maps texts that have no value under the key yet to their values.
    """
    values = features.per_text(key, batch.text_ids.ravel(), compute)
    size = batch.n + batch.m
    starts = range(0, len(values), size)
    return [(values[i : i + batch.n], values[i + batch.n : i + size]) for i in starts]


def mean_of_defined(values: Sequence[float] | np.ndarray) -> float:
    """Return the mean of the values that are not NaN, shape (n,); NaN without any.

    >>> mean_of_defined([0.5, float("nan"), 1.0]), mean_of_defined([float("nan")])
    (0.75, nan)
    """
    numbers = np.asarray(values, dtype=np.float64)
    defined = numbers[~np.isnan(numbers)]
    return float(defined.mean()) if len(defined) else float("nan")
