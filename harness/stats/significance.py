"""Permutation p-values of the per-example scores of a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, Metric, Permutes, State
from harness.errors import HarnessError
from harness.stats import permutation, permutation_p_values
from harness.stats.permutation_p_values import BUDGET, DRAWS, Tail
from harness.stats.seeds import derive
from harness.stats.stratified_test import standardise_values

MEMORY_BYTES = 256 << 20
"""Maximum size of the null values that are held at a time, in bytes."""
_NO_NULL = "defines no permutation null"


@dataclass(frozen=True, slots=True, eq=False)
class ExamplePValues:
    """Per-example p-values of one batch."""

    values: np.ndarray
    """p-values, shape (B,); NaN where the score is undefined."""
    method: permutation_p_values.Method
    floor: float
    """Smallest p-value of the design."""
    relabelings: int
    """Number of relabelings evaluated per example: C(N, n), or the number of draws."""
    note: str = ""
    """Reason for a Monte Carlo test in place of an exact one; empty otherwise."""


def has_generic_null(metric: Metric) -> bool:
    """Return True when the permutation null of a metric is the one of
    :class:`harness.contracts.MeanMetric`.
    """
    return isinstance(metric, MeanMetric) and type(metric).null is MeanMetric.null


def untestable_reason(metric: Metric) -> str:
    """Return the reason why a metric has no permutation p-values, to follow its name;
    empty when it has them.

    The generic null of :class:`harness.contracts.MeanMetric` serves metrics that
    compare candidates with references: a metric of the candidates alone, or of images,
    needs a ``null`` of its own.
    """
    if metric.spec.untestable:
        return metric.spec.untestable
    if metric.spec.higher_is_better is None:
        return "has no direction: no score is more extreme than another"
    if isinstance(metric, Permutes) and not has_generic_null(metric):
        return ""

    needs = metric.spec.needs
    if "references" not in needs or "images" in needs:
        inputs = "the candidates alone" if "references" not in needs else "images"
        return f"reads {inputs} and {_NO_NULL}"
    if isinstance(metric, Permutes):
        return ""
    if metric.spec.level == "corpus":
        return f"is a number of the corpus and {_NO_NULL}"
    return _NO_NULL


def metric_p_values(
    metric: Metric,
    batch: Batch,
    features: Features,
    state: State,
    observed: np.ndarray,
    *,
    method: Literal["exact", "monte-carlo", "auto"] = "auto",
    budget: int = BUDGET,
    draws: int = DRAWS,
    seed: int = 0,
    memory_bytes: int = MEMORY_BYTES,
) -> ExamplePValues:
    """Return the p-values of a metric's per-example scores ``observed`` (B,) on a
    batch.

    Lower scores are extreme where ``spec.higher_is_better`` is True, higher scores
    where it is False.

    Parameters
    ----------
    metric : Metric
        A metric with ``null``.
    batch : Batch
        B examples of one (n, m) shape.
    features : Features
        Feature cache of the run.
    state : object
        Corpus state, from ``metric.fit``.
    observed : array
        Scores, shape (B,).
    method, budget, draws, seed
        Design of the test, see :func:`harness.stats.permutation_p_values.plan`.
    memory_bytes : int
        Maximum size of the null values that are held at a time.

    Raises
    ------
    HarnessError
        The metric has no p-values (:func:`untestable_reason`).
    """
    name = metric.spec.name
    reason = untestable_reason(metric)
    if reason:
        raise HarnessError(f"metric '{name}' has no p-values: it {reason}")

    tail: Tail = "lower" if metric.spec.higher_is_better else "upper"
    observed = np.asarray(observed, dtype=np.float64)
    plan = permutation_p_values.plan(
        batch.n, batch.m, method=method, budget=budget, draws=draws, seed=seed
    )

    exact = getattr(metric, "exact_p_values", None)
    if plan.method == "exact" and exact is not None:
        values = np.where(np.isnan(observed), np.nan, exact(batch, features, state))
    else:
        step = max(1, memory_bytes // (32 * max(1, len(batch))))
        null = (
            _null(cast(Permutes, metric), batch, features, state, labels)
            for labels in plan.chunks(step)
        )
        values = permutation_p_values.p_values(observed, null, tail, plan.method)
    return ExamplePValues(values, plan.method, plan.floor, plan.relabelings, plan.note)


def extremeness(
    metric: Metric, batch: Batch, features: Features, state: State, labels: np.ndarray
) -> np.ndarray:
    """Return the statistic of a metric under labels (P, N), bool, shape (B, P): the
    larger, the more extreme.

    The metric has a permutation null (:func:`untestable_reason`).
    """
    values = _null(cast(Permutes, metric), batch, features, state, labels)
    return -values if metric.spec.higher_is_better else values


def sum_relabelings(
    metric: Metric,
    batch: Batch,
    features: Features,
    state: State,
    draws: int,
    seed: int,
) -> np.ndarray:
    """Return the sum over the examples of their statistics under random relabelings,
    the observed labels first, shape (draws + 1,).

    Every example has relabelings of its own, from ``seed`` and its id, and is centred
    and divided by the mean and the standard deviation over them, which no relabeling
    changes; see :mod:`harness.stats.stratified_test`. The share of values that are at
    least the first one is an exact p-value of sums over any examples.
    """
    sums = np.zeros(draws + 1)
    for item in batch.sets:
        labels = permutation.draws(batch.n, batch.m, draws + 1, derive(seed, item.id))
        # The identity takes the place of the first draw.
        labels[0] = np.arange(batch.n + batch.m) < batch.n
        values = extremeness(metric, features.batch([item]), features, state, labels)
        sums += standardise_values(values.T)[0][:, 0]
    return sums


def _null(
    metric: Permutes, batch: Batch, features: Features, state: State, labels: np.ndarray
) -> np.ndarray:
    """Return the statistic under labels (P, N), float64, shape (B, P); raise
    :class:`HarnessError` for another shape.
    """
    values = np.asarray(metric.null(batch, features, state, labels), dtype=np.float64)
    if values.shape != (len(batch), len(labels)):
        raise HarnessError(
            f"{type(metric).__name__}.null returned shape {values.shape}; "
            f"expected {(len(batch), len(labels))}"
        )
    return values
