"""The corpus number of a metric with its 95 % interval,
or the reason why there is no interval.

Measured coverages of intervals, a table beside the code of metrics, decide whether a
run prints an interval. Fields of a result record that a metric determines are built
here.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.contracts import (
    HasConstants,
    HasTokenIntervals,
    Interval,
    MeanMetric,
    Metric,
    MetricSpec,
    Objects,
    OwnInterval,
    Statistics,
    TokenScoreMetric,
    TokenScores,
    Values,
)
from harness.errors import HarnessError
from harness.files.secrets import redact_values
from harness.run.metric_plan import AnyMetricPlan, MetricPlan
from harness.run.score import Scored, combine_p_values
from harness.rundir.records import sizes_of_level
from harness.stats import bootstrap, jackknife, ties
from harness.stats.bootstrap import expand_weights, leave_clusters_out, number_clusters
from harness.stats.name_order import restrict_order
from harness.stats.quantiles import wilson_interval

if TYPE_CHECKING:
    from harness.spec.models import SignificanceSpec


NO_EXAMPLES = "an interval needs at least two examples"
"""Note of a result on fewer than two examples."""
NO_INTERVAL = "the metric gives no intervals"
"""Note of a metric of level ``model`` without intervals of its own."""
NOT_FINITE = "the value is not finite"
"""Note of a number that is NaN or infinite."""
NOT_RESAMPLED = "the metric cannot be computed from resampled examples"
"""Note of a metric that declares ``resampled=False`` and no interval of its own."""
FILE = "calibration.json"
"""File of measured coverages in the top folder of a package of metrics
(:mod:`harness.testing.calibration` writes it).
"""
LOWEST = 0.90
"""Coverage below which an interval is not printed."""
NOT_MEASURED = "how often such an interval holds the true value is not measured"
"""Note of an interval whose metric has no table."""
COMBINED = {
    "fisher-discrete": "calibrated",
    "harmonic-mean": "harmonic_mean",
    "summed": "summed",
}
"""Combination of p-values by the name of ``significance.aggregate`` in a spec: the key
of a record's ``p`` that is its ``p_value``.
"""


def estimate(
    metric: Metric,
    stats: Statistics,
    samples: int,
    seed: int,
    clusters: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> tuple[float, Interval]:
    """Return the corpus number of the defined rows and its interval
    (:func:`nominal_estimate`), unless its measured coverage is too low.

    Parameters and result are those of :func:`nominal_estimate`: statistics of shape (B,
    d) or objects, clusters and order of shape (B,).
    """
    value, interval = nominal_estimate(metric, stats, samples, seed, clusters, order)
    count = len(stats) if clusters is None else len(np.unique(clusters))
    return value, checked_interval(metric, interval, count)


def nominal_estimate(
    metric: Metric,
    stats: Statistics,
    samples: int,
    seed: int,
    clusters: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> tuple[float, Interval]:
    """Return the corpus number of the defined rows and its nominal 95 % interval.

    A metric with :class:`~harness.contracts.OwnInterval` computes the interval; for the
    others ``reduce`` is bootstrapped
    (:func:`harness.stats.bootstrap.confidence_interval`), unless it is the mean of
    scores that all lie at a bound of ``MetricSpec.bounds``, such as 0 and 1, or a
    number that lies at one as all scores do
    (:func:`harness.stats.quantiles.wilson_interval`). Their note is
    ``MetricSpec.held_fixed``. No interval leaves the bounds.

    Parameters
    ----------
    metric : Metric
        The metric.
    stats : ndarray or Objects
        Statistics of the defined examples.
    samples : int
        Number of bootstrap samples; 0: no interval, and no note.
    seed : int
        Seed of the samples.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (B,), where examples are not
        independent: whole clusters are resampled.
    order : ndarray, optional
        Order in which the examples are resampled, positions of shape (B,), so that the
        interval does not depend on that of their file
        (:mod:`harness.stats.name_order`); None: the order that they have.

    Returns
    -------
    tuple
        The number, NaN without rows, and its interval.
    """
    value = _number(metric, metric.reduce(stats)) if len(stats) else float("nan")
    if samples == 0:
        return value, Interval(None)
    if len(stats) < 2:
        return value, Interval(None, NO_EXAMPLES)
    if not np.isfinite(value):
        return value, Interval(None, NOT_FINITE)
    if order is not None:
        stats = stats[order]
        clusters = None if clusters is None else clusters[order]
    if clusters is not None:
        return value, _cluster_interval(
            metric, stats, value, samples, seed, number_clusters(clusters)
        )
    if isinstance(metric, OwnInterval):
        own = metric.interval(stats, samples, seed)
        return value, replace(own, ends=_within_bounds(metric, own.ends, value))
    if not metric.spec.resampled:
        return value, Interval(None, NOT_RESAMPLED)
    ends = _share_interval(metric, stats, value)
    is_sum = False
    precision = metric.spec.tolerance
    if (
        ends is None
        and len(stats) >= bootstrap.LARGE
        and isinstance(metric, MeanMetric)
        and not isinstance(stats, Objects)
    ):
        is_sum, ends = bootstrap.large_interval(
            metric, stats, value, samples, seed, precision
        )
    if ends is None and not is_sum:
        ends = bootstrap.confidence_interval(
            lambda w: metric.reduce(stats, w), len(stats), samples, seed, precision
        )
    if ends is None:
        return value, Interval(None, bootstrap.NO_SPREAD)
    return value, Interval(_within_bounds(metric, ends, value), metric.spec.held_fixed)


def _cluster_interval(
    metric: Metric,
    stats: Statistics,
    value: float,
    samples: int,
    seed: int,
    clusters: np.ndarray,
) -> Interval:
    """Return the interval of a number of clusters of examples.

    A number with an interval of its own, which repeated examples bias, has the
    jackknife of groups of clusters; another is bootstrapped.
    """
    count = int(clusters.max()) + 1
    note = f"{count} clusters resampled"
    if count < 2:
        return Interval(None, "an interval needs at least two clusters")
    if not isinstance(metric, MeanMetric) and (
        isinstance(metric, OwnInterval) or not metric.spec.resampled
    ):
        ends = jackknife.interval_of_parts(
            value, leave_clusters_out(metric.reduce, stats, clusters, seed)
        )
    else:
        ends = bootstrap.confidence_interval(
            lambda weights: metric.reduce(stats, expand_weights(weights, clusters)),
            count,
            samples,
            seed,
            metric.spec.tolerance,
        )
    if ends is None:
        return Interval(None, bootstrap.NO_SPREAD)
    return Interval(
        _within_bounds(metric, ends, value),
        "; ".join(filter(None, (metric.spec.held_fixed, note))),
    )


def _within_bounds(
    metric: Metric | TokenScoreMetric, ends: bootstrap.Ends | None, value: float
) -> bootstrap.Ends | None:
    """Return the ends cut to the bounds of the metric,
    which symmetric intervals pass and percentiles do not.
    """
    if ends is None:
        return None
    low, high = metric.spec.bounds or (-math.inf, math.inf)
    return max(ends[0], min(low, value)), min(ends[1], max(high, value))


def _number(metric: Metric, value: object) -> float:
    """Return a corpus number; raise :class:`HarnessError` for anything else."""
    if (
        not np.ndim(cast("float", value))
        and not isinstance(value, (str, bytes))
        and value is not None
    ):
        return float(cast("float", value))
    raise HarnessError(
        f"metric '{metric.spec.name}' reduces its statistics to {value!r:.80}; "
        "expected one number"
    )


def _share_interval(
    metric: Metric, stats: Statistics, value: float
) -> tuple[float, float] | None:
    """Return the interval of a mean of scores that all lie at a bound, which is a
    share, and of another number that lies at the bound where all scores do; None for
    any other number.

    At a bound lies what differs from it by rounding or by the constants of the metric's
    formula.
    """
    bounds = metric.spec.bounds
    if (
        bounds is None
        or not all(map(math.isfinite, bounds))
        or not isinstance(metric, MeanMetric)
        or isinstance(stats, Objects)
    ):
        return None
    low, high = bounds
    margin = metric.spec.tolerance * (high - low)
    scores = ties.without_constants(metric, stats, metric.per_example(stats))
    is_low = scores <= low + margin
    is_high = scores >= high - margin
    if not (is_low | is_high).all():
        return None
    if type(metric).reduce is not MeanMetric.reduce:
        # Scores that are 0 but for constants sum to a number of which the same is true,
        # whatever its size.
        at_low = is_low.all() and (
            isinstance(metric, HasConstants) or value <= low + margin
        )
        at_high = is_high.all() and value >= high - margin
        if not (at_low or at_high):
            return None
    ends = wilson_interval(np.count_nonzero(is_high) / len(stats), len(stats))
    return low + (high - low) * ends[0], low + (high - low) * ends[1]


def token_intervals(
    metric: TokenScoreMetric,
    scores: Sequence[Sequence[TokenScores]],
    values: Mapping[str, float],
    samples: int,
    seed: int,
) -> dict[str, Interval]:
    """Return column name -> interval of a metric of level ``model``.

    A metric with :class:`~harness.contracts.HasTokenIntervals` computes them; another
    has none.

    Parameters
    ----------
    metric : TokenScoreMetric
        The metric, for the metadata of examples in the order of ``scores``.
    scores : sequence
        Token scores of the examples, in the order in which they are resampled.
    values : mapping
        Column name -> number.
    samples : int
        Number of bootstrap samples; 0: no intervals, and no notes.
    seed : int
        Seed of the samples.
    """
    if samples == 0:
        return dict.fromkeys(values, Interval(None))
    if len(scores) < 2:
        return dict.fromkeys(values, Interval(None, NO_EXAMPLES))
    own = isinstance(metric, HasTokenIntervals)
    intervals: Mapping[str, Interval] = (
        metric.intervals(scores, samples, seed) if own else {}
    )
    found = {name: intervals.get(name, Interval(None, NO_INTERVAL)) for name in values}
    return {
        name: replace(
            interval, ends=_within_bounds(metric, interval.ends, values[name])
        )
        for name, interval in found.items()
    }


def checked_interval(metric: Metric, interval: Interval, n_examples: int) -> Interval:
    """Return the interval of a number of examples,
    or none where its measured coverage is below :data:`LOWEST`.

    The coverage is the lowest of the distributions of scores on which it was measured,
    at the largest measured number of examples that is not above ``n_examples``, else at
    the smallest. An interval of a metric without a table stays, with
    :data:`NOT_MEASURED` in its note.
    """
    if interval.ends is None:
        return interval
    coverages = _coverages(type(metric).__module__.partition(".")[0]).get(
        table_name(metric)
    )
    if coverages is None:
        return replace(
            interval, note="; ".join(filter(None, (interval.note, NOT_MEASURED)))
        )
    size = max(
        (size for size in coverages if size <= n_examples), default=min(coverages)
    )
    if coverages[size] >= LOWEST:
        return interval
    return Interval(
        None,
        f"measured coverage {coverages[size]:.3f} with {size} examples, "
        f"below {LOWEST:.2f}",
    )


def table_name(metric: Metric) -> str:
    """Return the name of a metric in tables, without the embedding or distance:
    ``mmd`` of ``mmd(minilm)``.
    """
    return metric.spec.name.partition("(")[0]


def table_file(module: str) -> Path | None:
    """Return where the table of the metrics of a module is, or would be;
    None for a module without a file.
    """
    package = sys.modules.get(module.partition(".")[0])
    file = getattr(package, "__file__", None)
    return Path(file).parent / FILE if file and hasattr(package, "__path__") else None


@cache
def _coverages(package: str) -> Mapping[str, Mapping[int, float]]:
    """Return metric -> number of examples -> lowest measured coverage; raise
    :class:`HarnessError` for a file of another form.
    """
    file = table_file(package)
    if file is None or not file.is_file():
        return {}
    try:
        metrics = cast("dict[str, Any]", json.loads(file.read_text("utf-8"))["metrics"])
        tables = {
            name: {int(size): _lowest(cell) for size, cell in table["sizes"].items()}
            for name, table in metrics.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HarnessError(
            f"{file}: expected the tables that 'harness check METRIC --calibrate "
            f"--json' prints; found {error!r:.80}"
        ) from error
    return {name: table for name, table in tables.items() if table}


def _lowest(cell: Mapping[str, Sequence[float | None]]) -> float:
    """Return the lowest coverage; 1 where no interval was printed in the simulation."""
    return min((share for share in cell["interval"] if share is not None), default=1.0)


def metric_fields(plan: AnyMetricPlan, column: str = "") -> Values:
    """Return the fields of a record that are the same for all systems, of a column of a
    metric of level ``model``.
    """
    spec = plan.metric.spec
    higher_is_better = (
        None if column.partition(",")[0] in spec.undirected else spec.higher_is_better
    )
    return {
        "higher_is_better": higher_is_better,
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
    rows = stats
    if plan.metric.spec.details_of_undefined and not isinstance(scored.stats, Objects):
        rows = scored.stats[~np.isnan(scored.stats).all(axis=1)]
    fields = {
        **metric_fields(plan),
        "metric": plan.label,
        "params": redact_values(dict(plan.params)),
        "value": value,
        "ci95": interval.ends,
        "interval_note": interval.note or None,
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


def _unusual_sizes(spec: MetricSpec) -> Sequence[str] | None:
    """Return the set sizes on which a metric depends; None for those of its level."""
    sizes = sorted(spec.depends_on or ())
    return None if sizes == sizes_of_level(spec.level) else sizes
