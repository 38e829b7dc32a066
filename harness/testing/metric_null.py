"""Checks of a metric's permutation null and p-values."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import Batch, Features, Permutes, State
from harness.contracts.bases import relabeled_batch
from harness.stats import permutation
from harness.stats.permutation_p_values import Tail, p_values
from harness.stats.significance import has_generic_null, untestable_reason
from harness.testing import exchangeability
from harness.testing.metric_subject import (
    MetricSubject,
    largest_difference,
    nearly_equal,
    numbers_of,
)
from harness.testing.results import Checks, Instance, NotApplicable, ensure

NULL_CHECKS = Checks("metrics")
MAX_TEXTS = 5
"""Maximum number of candidates, and of references, whose relabelings are enumerated."""
SLACK = 1e-7
"""Tolerance for differences of the null from scores of relabeled texts;
features are float32.
"""


@NULL_CHECKS.of(MetricSubject)
def null_shape(subject: MetricSubject) -> None:
    """``null`` returns one number for each example and relabeling, (B, P)."""
    batch, features, state, metric = _testable(subject)
    labels = permutation.relabelings(batch.n, batch.m)[:4]
    null = np.asarray(metric.null(batch, features, state, labels))
    ensure(
        null.shape == (len(batch), 4),
        f"null has shape {null.shape}; expected {(len(batch), 4)}",
    )


@NULL_CHECKS.of(MetricSubject)
def null_identity(subject: MetricSubject) -> None:
    """``null`` for the original labels is the score."""
    batch, features, state, metric = _testable(subject)
    stats = np.asarray(metric.stats(batch, features, state))
    scores = numbers_of(metric, stats).per_example

    labels = permutation.relabelings(batch.n, batch.m)[:1]
    null = np.asarray(metric.null(batch, features, state, labels))[:, 0]
    same = nearly_equal(scores, null) or np.allclose(
        scores, null, atol=SLACK, equal_nan=True
    )
    ensure(
        same,
        "null of the original labels is not the score: "
        f"{largest_difference(scores, null, batch.sets)}",
    )


@NULL_CHECKS.of(MetricSubject)
def null_relabels(subject: MetricSubject) -> None:
    """``null`` for other labels is the score of the relabeled texts."""
    batch, features, state, metric = _testable(subject)
    for labels in permutation.relabelings(batch.n, batch.m)[1::3]:
        null = np.asarray(metric.null(batch, features, state, labels[None]))[:, 0]
        expected = _relabeled_scores(metric, batch, features, state, labels)
        pattern = "".join("rc"[int(label)] for label in labels)
        ensure(
            np.allclose(null, expected, rtol=SLACK, atol=SLACK, equal_nan=True),
            f"null is not the score of the texts relabeled {pattern}: "
            f"{largest_difference(expected, null, batch.sets)}",
        )


@NULL_CHECKS.of(MetricSubject)
def exact_p_values(subject: MetricSubject) -> None:
    """``exact_p_values`` is the share of all relabelings at least as extreme as the
    observed one, as enumerated.
    """
    metric = subject.component
    if not hasattr(subject.component, "exact_p_values"):
        raise NotApplicable("has no exact_p_values")

    _ = subject.base
    if metric.spec.higher_is_better is None:
        raise NotApplicable("has no direction, hence no p-values")
    batch, features, state = subject.small_batch(MAX_TEXTS)

    # the share is counted again: every relabeling is scored
    table = permutation.relabelings(batch.n, batch.m)
    null = np.stack(
        [_relabeled_scores(metric, batch, features, state, labels) for labels in table],
        axis=1,
    )
    tail: Tail = "lower" if metric.spec.higher_is_better else "upper"
    expected = p_values(null[:, 0], [null], tail, "exact")

    actual = np.asarray(metric.exact_p_values(batch, features, state), dtype=float)
    ensure(
        actual.shape == (len(batch),),
        f"exact_p_values has shape {actual.shape}; expected {(len(batch),)}",
    )

    # an undefined example has no p-value, whatever the metric returns
    actual = np.where(np.isnan(expected), np.nan, actual)
    ensure(
        nearly_equal(actual, expected),
        "enumerated and returned p-value differ: "
        f"{largest_difference(expected, actual, batch.sets)}",
    )


@NULL_CHECKS.of(MetricSubject)
def equal_labels(subject: MetricSubject) -> None:
    """Eight texts without a common token, 4 against 4:
    p is 1 for a metric that does not tell them apart.
    """
    _ = subject.base
    exchangeability.ensure_equal_labels(subject.component)


@NULL_CHECKS.of(MetricSubject)
def one_source(subject: MetricSubject) -> None:
    """Of 200 sets with candidates and references of one source,
    at most 22 have p of 0.05 or less.
    """
    _ = subject.base
    exchangeability.ensure_one_source(subject.component)


def _testable(subject: MetricSubject) -> tuple[Batch, Features, State, Any]:
    metric: Any = subject.component
    reason = untestable_reason(metric) if has_generic_null(metric) else ""
    if reason or not isinstance(metric, Permutes):
        raise NotApplicable(reason or "has no null")
    _ = subject.base
    return *subject.small_batch(MAX_TEXTS), metric


def _relabeled_scores(
    metric: Instance, batch: Batch, features: Features, state: State, labels: np.ndarray
) -> np.ndarray:
    """Return scores (B,) with the texts labelled True as candidates and the others as
    references.
    """
    relabeled = relabeled_batch(batch, batch.texts, labels, features)
    stats = np.asarray(metric.stats(relabeled, features, state), dtype=float)
    return numbers_of(metric, stats).per_example
