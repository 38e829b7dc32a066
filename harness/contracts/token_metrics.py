"""Protocols of metrics of level ``model``, which judge a model by its token scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from harness.contracts.data import TokenScores
from harness.contracts.metrics import Interval, MetricSpec
from harness.contracts.parameters import Parameters


@runtime_checkable
class TokenScoreMetric(Protocol):
    """A metric of level ``model``: it judges a model by its token scores for the
    references; no caption is generated.
    """

    spec: MetricSpec

    def signature(self) -> str:
        """Return a text that changes whenever a number may change."""
        ...

    def evaluate_scores(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, float]:
        """Return column name -> number for the token scores of all examples (per
        example one entry per reference).
        """
        ...

    def per_example(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, np.ndarray]:
        """Return column name -> scores (B,) for the columns that have a score per
        example.
        """
        ...


@runtime_checkable
class ReadsMeta(Protocol):
    """A metric of level ``model`` that reads the metadata of the examples beside their
    token scores, for numbers of parts of a task.
    """

    def of_meta(self, meta: Iterable[Parameters]) -> TokenScoreMetric:
        """Return the metric for examples with this metadata, in the order of the token
        scores that its other members get.

        A metric that needs no metadata returns itself and reads none.
        """
        ...

    def column_sizes(self) -> Mapping[str, int]:
        """Return column -> number of examples, for the columns that do not describe all
        examples.
        """
        ...


@runtime_checkable
class HasTokenIntervals(Protocol):
    """A metric of level ``model`` that computes the intervals of its columns."""

    def intervals(
        self, scores: Sequence[Sequence[TokenScores]], samples: int, seed: int
    ) -> Mapping[str, Interval]:
        """Return column name -> 95 % interval, or the reason for none.

        Called with at least two examples and at least one bootstrap sample. The result
        depends on the arguments alone.
        """
        ...
