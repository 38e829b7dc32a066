"""Checks of a metric's conduct: unchanged inputs, repeatable numbers, plain data, no side effects."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from harness.contracts import HasDetails
from harness.testing import shared_checks
from harness.testing.metric_subject import MetricSubject, copy_of_sets
from harness.testing.results import Checks, ensure

CONDUCT_CHECKS = Checks("metrics")


@CONDUCT_CHECKS.of(MetricSubject)
def inputs_unchanged(subject: MetricSubject) -> None:
    """Texts, ids, statistics and weights are not modified."""
    _ = subject.base
    metric, features, before = subject.component, subject.fitted(), copy_of_sets(subject.sets)
    batch = features.batch(subject.sets)
    ids = batch.text_ids.copy()
    stats = metric.stats(batch, features, subject.state(features))
    ensure(np.array_equal(ids, batch.text_ids), "modifies the batch's text_ids")
    ensure(copy_of_sets(subject.sets) == before, "modifies the caption sets")
    stats = stats[~np.isnan(stats[:, 0])]
    stats_before, weights = stats.copy(), np.ones((2, len(stats)))
    _ = metric.per_example(stats), metric.reduce(stats), metric.reduce(stats, weights)
    ensure(np.array_equal(stats_before, stats, equal_nan=True), "per_example or reduce modifies the statistics")
    ensure((weights == 1).all(), "reduce modifies the weights")


CONDUCT_CHECKS.extend(
    [
        shared_checks.deterministic,
        shared_checks.random_state,
        shared_checks.pickles,
        shared_checks.parameters,
        shared_checks.signature_in_use,
    ]
)


@CONDUCT_CHECKS.of(MetricSubject)
def json_safe(subject: MetricSubject) -> None:
    """The parts of a record (value, signature, details) are plain data."""
    from harness.rundir.store import to_json

    _ = subject.base
    numbers = subject.compute()
    record: dict[str, Any] = {"value": numbers.value, "signature": subject.identity()}
    if isinstance(subject.component, HasDetails):
        record["details"] = subject.component.details(numbers.stats[numbers.defined])
        ensure(isinstance(record["details"], dict), "details() does not return a mapping")
    plain = json.dumps(json.loads(to_json(record)))
    objects = [text for text in plain.split('"') if " object at 0x" in text]
    ensure(not objects, f"details contain an object that is not plain data: {objects[:1]}")


CONDUCT_CHECKS.extend(shared_checks.CONDUCT)
