"""The checks of a metric's conduct: the same numbers every time, everywhere, and nothing done on the side."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from harness.run import score as scoring
from harness.testing import shared_checks as making
from harness.testing import side_effects as watching
from harness.testing.base_subject import add_conduct
from harness.testing.metric_subject import MetricSubject, near, snapshot
from harness.testing.metrics import METRIC_CHECKS, values
from harness.testing.results import NotApplicable, ensure


@METRIC_CHECKS.add
def inputs_unchanged(subject: MetricSubject) -> None:
    """Texts, ids, statistics and weights given to it stay as they were."""
    _ = subject.base
    metric, features, before = subject.metric, subject.fitted(), snapshot(subject.sets)
    batch = features.batch(subject.sets)
    ids = batch.text_ids.copy()
    stats = metric.stats(batch, features, scoring.fitted(metric, features))
    ensure(np.array_equal(ids, batch.text_ids), "changes the batch's text_ids")
    ensure(snapshot(subject.sets) == before, "changes the caption sets")
    stats = stats[~np.isnan(stats[:, 0])]
    kept, given = stats.copy(), np.ones((2, len(stats)))
    _ = metric.per_example(stats), metric.reduce(stats), metric.reduce(stats, given)
    ensure(np.array_equal(kept, stats, equal_nan=True), "per_example or reduce changes the statistics")
    ensure((given == 1).all(), "reduce changes the weights")


@METRIC_CHECKS.add
def deterministic(subject: MetricSubject) -> None:
    """The same numbers again, whatever the global random state."""
    base = subject.base
    for seed in (1, 2):
        with watching.seeded(seed):
            again = subject.numbers(subject.sets)
        ensure(again.same_rows(base), "gives other numbers when run again: seed what it draws")
        ensure(near(again.value, base.value), f"gives {base.value!r} and then {again.value!r}")


@METRIC_CHECKS.add
def random_state(subject: MetricSubject) -> None:
    """Global random states are left alone."""
    _ = subject.base
    watching.leaves_random_state_alone(lambda: subject.numbers(subject.sets))


@METRIC_CHECKS.add
def pickles(subject: MetricSubject) -> None:
    """A copy in a worker process has the same signature and gives the same numbers."""
    _ = subject.model_level or subject.base
    copy = making.copied(subject.metric)
    ensure(copy.signature() == subject.metric.signature(), "has another signature after pickling")
    if not subject.model_level:
        ensure(subject.numbers(subject.sets, metric=copy).same_rows(subject.base), "gives other numbers after pickling")


@METRIC_CHECKS.add
def parameters(subject: MetricSubject) -> None:
    """A parameter that changes the numbers changes the signature."""
    if subject.model_level:
        raise NotApplicable("judges token scores, not captions")
    _ = subject.base
    making.told_apart(
        subject.metric,
        lambda metric: metric.signature(),
        lambda metric: subject.numbers(subject.sets, metric=metric),
        lambda one, other: near(values(one), values(other)) and near(one.per_example, other.per_example),
    )


@METRIC_CHECKS.add
def signature_in_use(subject: MetricSubject) -> None:
    """Scoring does not change the signature."""
    _ = subject.base
    ensure(subject.metric.signature() == subject.first_signature, "the signature changes when captions are scored")


@METRIC_CHECKS.add
def json_safe(subject: MetricSubject) -> None:
    """What goes into a record (value, signature, details) is plain data."""
    from harness.rundir.format import to_json

    _ = subject.base
    base = subject.numbers(subject.sets)
    stats = base.stats[base.defined]
    record: dict[str, Any] = {"value": base.value, "signature": subject.metric.signature()}
    if hasattr(subject.metric, "details"):
        record["details"] = subject.metric.details(stats)
        ensure(isinstance(record["details"], dict), "details() gives no mapping")
    read = json.loads(to_json(record))
    objects = [text for text in json.dumps(read).split('"') if " object at 0x" in text]
    ensure(not objects, f"details hold something that is no data: {objects[:1]}")


add_conduct(METRIC_CHECKS)
