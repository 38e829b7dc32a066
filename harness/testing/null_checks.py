"""The checks of a metric's permutation null: relabeling is re-drawing, and an exact p-value is the enumerated one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Batch, ExactTestable, Features, Testable
from harness.stats import permutation
from harness.testing.metric_subject import MetricSubject, collected, near, worst
from harness.testing.metrics import METRIC_CHECKS
from harness.testing.results import NotApplicable, ensure

MOST = 5


@METRIC_CHECKS.add
def null_shape(subject: MetricSubject) -> None:
    """``null`` gives one number for each example and relabeling, (B, P)."""
    batch, features, state, metric = _null_of(subject)
    labels = permutation.relabelings(batch.n, batch.m)[:4]
    made = np.asarray(metric.null(batch, features, state, labels))
    ensure(made.shape == (len(batch), 4), f"null has shape {made.shape}; expected {(len(batch), 4)}")


@METRIC_CHECKS.add
def null_identity(subject: MetricSubject) -> None:
    """``null`` under the labels that the texts have is the score itself."""
    batch, features, state, metric = _null_of(subject)
    observed = collected(metric, np.asarray(metric.stats(batch, features, state))).per_example
    labels = permutation.relabelings(batch.n, batch.m)[:1]
    made = np.asarray(metric.null(batch, features, state, labels))[:, 0]
    told = f"null of the identity is not the score: {worst(observed, made, batch.sets)}"
    ensure(near(observed, made) or np.allclose(observed, made, atol=permutation.TOLERANCE / 10, equal_nan=True), told)


@METRIC_CHECKS.add
def null_relabels(subject: MetricSubject) -> None:
    """``null`` under other labels is the score of the texts so divided."""
    batch, features, state, metric = _null_of(subject)
    for labels in permutation.relabelings(batch.n, batch.m)[1::3]:
        made = np.asarray(metric.null(batch, features, state, labels[None]))[:, 0]
        wanted = _scores_of(subject, batch, features, state, labels)
        ensure(
            np.allclose(made, wanted, rtol=1e-7, atol=permutation.TOLERANCE / 10, equal_nan=True),
            "null is not the score of the texts relabeled " + "".join("rc"[int(x)] for x in labels) + ": "
            + worst(wanted, made, batch.sets),
        )  # fmt: skip


@METRIC_CHECKS.add
def exact_p_values(subject: MetricSubject) -> None:
    """``exact_p_values`` is the share of relabelings at least as extreme, counted one by one."""
    metric: Any = subject.metric
    if not isinstance(subject.metric, ExactTestable):
        raise NotApplicable("has no exact_p_values")
    _ = subject.base
    if metric.spec.higher_is_better is None:
        raise NotApplicable("has no direction, so no p-values")
    batch, features, state = subject.small_batch(MOST)
    table = permutation.relabelings(batch.n, batch.m)
    null = np.stack([_scores_of(subject, batch, features, state, labels) for labels in table], axis=1)
    extreme = (
        null <= null[:, :1] + permutation.TOLERANCE
        if metric.spec.higher_is_better
        else null >= null[:, :1] - permutation.TOLERANCE
    )
    wanted = np.where(np.isnan(null[:, 0]), np.nan, extreme.mean(axis=1))
    made = np.asarray(metric.exact_p_values(batch, features, state), dtype=float)
    ensure(made.shape == (len(batch),), f"exact_p_values has shape {made.shape}; expected {(len(batch),)}")
    made = np.where(np.isnan(wanted), np.nan, made)
    ensure(near(made, wanted), f"differs from the enumeration (enumerated, given): {worst(wanted, made, batch.sets)}")


def _null_of(subject: MetricSubject) -> tuple[Batch, Features, Any, Any]:
    if not isinstance(subject.metric, Testable):
        raise NotApplicable("has no null")
    _ = subject.base
    return *subject.small_batch(MOST), subject.metric


def _scores_of(
    subject: MetricSubject, batch: Batch, features: Features, state: object, labels: np.ndarray
) -> np.ndarray:
    """(B,) scores where the texts labelled True are the candidates."""
    chosen, rest = np.flatnonzero(labels), np.flatnonzero(~labels)
    sets = []
    for item, texts in zip(batch.sets, batch.texts):
        sets.append(replace(item, candidates=tuple(texts[k] for k in chosen), references=tuple(texts[k] for k in rest)))
    turned = features.batch(sets)
    return collected(subject.metric, np.asarray(subject.metric.stats(turned, features, state), dtype=float)).per_example
