"""Fields of a result record that a metric and its scores determine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.contracts import MetricSpec, Objects, Values
from harness.files.secrets import redact_values
from harness.run.combined_p_values import combine_p_values
from harness.run.metric_plan import AnyMetricPlan, MetricPlan
from harness.run.scored import Scored
from harness.rundir.records import UNDEFINED, sizes_of_level
from harness.stats.name_order import restrict_order

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec
from harness.run.intervals import estimate

COMBINED = {
    "fisher-discrete": "calibrated",
    "harmonic-mean": "harmonic_mean",
    "summed": "summed",
}
"""Combination of p-values by the name of ``significance.aggregate`` in a spec: the key
of a record's ``p`` that is its ``p_value``.
"""


def metric_fields(plan: AnyMetricPlan, column: str = "") -> Values:
    """Return the fields of a record that are the same for all systems, of a column of a
    metric of level ``model``.
    """
    spec = plan.metric.spec
    # the parts of a task have the direction of its column: ``COLUMN, PART``
    is_undirected = column.partition(",")[0] in spec.undirected
    return {
        "higher_is_better": None if is_undirected else spec.higher_is_better,
        "level": spec.level,
        "signature": plan.metric.signature(),
    }


def number_fields(
    plan: MetricPlan,
    scored: Scored,
    significance: SignificanceSpec | None,
    samples: int,
    seed: int,
    clusters: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> Values:
    """Return the fields of the record of a metric on examples.

    Parameters
    ----------
    plan : MetricPlan
        The metric.
    scored : Scored
        Its results of B examples.
    significance : SignificanceSpec, optional
        Combination of the p-values; None where none were requested.
    samples, seed : int
        Bootstrap samples of the interval, and their seed.
    clusters : array, optional
        Label of the cluster of each example, shape (B,); None for independent ones.
    order : array, optional
        Order in which the examples are resampled, shape (B,); None: the order that they
        have.
    """
    defined = scored.defined
    # no copy of millions of rows
    stats = scored.stats if defined.all() else scored.stats[defined]
    clusters = None if clusters is None else clusters[defined]
    value, interval = estimate(
        plan.metric, stats, samples, seed, clusters, restrict_order(order, defined)
    )

    # Some metrics count what made an example undefined, such as refusals of a judge.
    rows = stats
    if plan.metric.spec.details_of_undefined and not isinstance(scored.stats, Objects):
        rows = scored.stats[~np.isnan(scored.stats).all(axis=1)]

    fields = {
        **metric_fields(plan),
        "metric": plan.label,
        "params": redact_values(dict(plan.params)),
        "value": value,
        "ci95": interval.ends,
        "interval_note": _reason_for_no_value(plan.metric, stats, value)
        or interval.note
        or None,
        "n": int(defined.sum()),
        "skipped": int((~defined).sum()),
        "depends_on": _unusual_sizes(plan.metric.spec),
        "seconds": round(scored.seconds, 4),
        "details": plan.details(rows) if len(rows) else None,
    }
    if significance is None or significance.method == "none":
        return fields

    aggregate = combine_p_values(
        scored.p_values, scored.p_floors, significance.fdr, scored.p_sums
    )
    if not aggregate:
        return {**fields, "p_note": scored.p_note or "is defined for no example"}
    return {
        **fields,
        "p_value": aggregate[COMBINED[significance.aggregate]],
        "p_method": f"{scored.p_method}, {significance.aggregate}",
        "p": {**aggregate, "floor": scored.p_floor},
    }


def _reason_for_no_value(metric: object, stats: Any, value: float) -> str:
    """Return why a metric has no value for a run, where it says so in a method
    ``undefined_reason``; empty for a value.
    """
    explain = getattr(metric, "undefined_reason", None)
    if not math.isnan(value) or not callable(explain) or not len(stats):
        return ""
    return f"{UNDEFINED}{explain(stats)}"


def _unusual_sizes(spec: MetricSpec) -> Sequence[str] | None:
    """Return the set sizes on which a metric depends; None for those of its level."""
    sizes = sorted(spec.depends_on or ())
    return None if sizes == sizes_of_level(spec.level) else sizes
