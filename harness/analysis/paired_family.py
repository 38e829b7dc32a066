"""Tests of many pairs of systems and metrics under one family of random weight vectors.

Sums (:class:`harness.contracts.SumMetric`) and means of all systems are resampled by
common matrix products; the values of a pair follow from the sums of its two systems.
Other metrics are reduced under the first :data:`GENERAL_DRAWS` weight vectors; those
with an interval of their own (:class:`harness.contracts.OwnInterval`), which repetition
biases, have a jackknife in place of the bootstrap, and from :data:`JACKKNIFED` examples
on its t test in place of approximate randomisation: the numbers without groups of
examples are those of one system, computed once for all its pairs, where exchanges
between two systems are made anew for each pair. Metrics with ``left_out`` are not
resampled at all: interval and p-value come from the numbers without parts of the
examples. The metrics that are not additive are computed in threads, at most one of a
metric at a time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, cast

import numpy as np

from harness.contracts import (
    HasConstants,
    LeftOut,
    MeanMetric,
    Metric,
    Objects,
    OwnInterval,
    Statistics,
    is_defined,
)
from harness.errors import HarnessError
from harness.run.sequences import spread_addends
from harness.stats import ties
from harness.stats.bootstrap import (
    leave_clusters_out,
    number_clusters,
    sum_over_clusters,
)
from harness.stats.draws import DrawFamily, resampled_sums
from harness.stats.resampled_difference import (
    PairSums,
    ResampledDifference,
    difference_of_parts,
    difference_of_statistics,
    difference_of_sums,
    first_draws,
    separable,
    weights_without_groups,
)

GENERAL_DRAWS = 1000
"""Maximum number of weight vectors of a metric that is not additive."""
JACKKNIFED = 500
"""Number of common examples from which a metric with an interval of its own has the t
test of the jackknife.
"""
MAX_PRODUCT = 1 << 25
"""Maximum number of sums that are held together, 256 MB."""
P_VALUES = ("p_bootstrap", "p_randomisation", "p_jackknife")
"""P-values of a difference."""
NOT_RESAMPLED = (
    "the number of this metric cannot be resampled: "
    "it depends on more than the statistics of the chosen examples"
)
"""Note of a metric whose reduction is not determined by weighted rows."""


@dataclass(frozen=True, eq=False)
class SystemData:
    """Statistics and scores of one system and metric on the examples of a family."""

    stats: Statistics | None
    """Sufficient statistics, undefined where an example has none; None when the run has
    none that this version reads.
    """
    scores: np.ndarray
    """Scores per example, shape (B,), NaN where undefined or missing."""


@dataclass(frozen=True, eq=False)
class PairedMetric:
    """One metric of a pair of systems, to be tested."""

    metric: Metric
    a: SystemData
    b: SystemData

    def restrict(self, mask: np.ndarray) -> PairedMetric:
        """Return the metric on the examples of a mask (B,)."""
        a, b = (
            SystemData(
                None if side.stats is None else side.stats[mask], side.scores[mask]
            )
            for side in (self.a, self.b)
        )
        return PairedMetric(self.metric, a, b)


@dataclass(frozen=True)
class PairedTests:
    """Tests of one metric of a pair of systems."""

    reported: ResampledDifference | None
    """Tests of the number that the table reports; None with a ``note``."""
    note: str
    """Reason why the reported number is not tested, or why it has no interval; the
    method where it is the jackknife.
    """
    signs: ResampledDifference | None
    """Sign flips of the differences of the scores per example;
    None without a pair of scores.
    """
    n: int
    """Examples for which both systems are defined."""
    a_larger: int
    b_larger: int
    ties: int
    largest: float = float("inf")
    """Largest difference of two numbers within the bounds of the metric."""

    @property
    def ends(self) -> list[float] | None:
        """Interval of the difference of :attr:`reported`, cut to the differences that
        can occur; None without one.
        """
        if self.reported is None or self.reported.ci95 is None:
            return None
        low, high = self.reported.ci95
        return [max(low, -self.largest), min(high, self.largest)]


@dataclass(eq=False)
class _Plan:
    """Columns of one metric of a pair: positions in the products."""

    of_sums: Callable[[np.ndarray], np.ndarray]
    a: slice
    b: slice


@dataclass(eq=False)
class _Columns:
    """Distinct columns of addends (B, k) of all systems and metrics."""

    blocks: list[np.ndarray] = field(default_factory=list["np.ndarray"])
    places: dict[bytes, slice] = field(default_factory=dict[bytes, slice])
    width: int = 0
    clusters: np.ndarray | None = None
    """Number of the cluster of each example, shape (B,); None for independent examples.
    Columns are then sums over clusters.
    """

    def place(self, addends: np.ndarray) -> slice:
        """Return the columns of ``addends``, added unless equal columns are there."""
        if self.clusters is not None:
            addends = sum_over_clusters(addends, self.clusters)
        content = np.ascontiguousarray(addends, dtype=np.float64)
        key = hashlib.sha1(
            content.tobytes() + str(content.shape).encode(), usedforsecurity=False
        ).digest()
        if key not in self.places:
            self.places[key] = slice(self.width, self.width + content.shape[1])
            self.blocks.append(content)
            self.width += content.shape[1]
        return self.places[key]


@dataclass(eq=False)
class _Seen:
    """Results that several pairs share."""

    inseparable: set[int] = field(default_factory=set["int"])
    """Metrics (by ``id``) whose reduction is not determined by weighted rows."""
    left_out: dict[tuple[int, int, bytes], tuple[float, LeftOut]] = field(
        default_factory=dict["tuple[int, int, bytes]", "tuple[float, LeftOut]"]
    )
    """Number, and numbers without parts, by metric and system (by ``id``) and the mask
    of examples.
    """
    locks: dict[int, Lock] = field(default_factory=dict["int", "Lock"])
    """Lock of each metric (by ``id``): one need not be safe in several threads."""


def paired_tests(
    items: Sequence[PairedMetric],
    family: DrawFamily,
    clusters: np.ndarray | None = None,
) -> Iterator[PairedTests]:
    """Yield the tests of paired metrics, in their order.

    Parameters
    ----------
    items : sequence of PairedMetric
        Metrics of pairs of systems on the same B examples.
    family : DrawFamily
        Weight vectors over the examples, or over the clusters.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (B,), where examples are not
        independent: whole clusters are resampled and exchanged.
    """
    limit = max(1, MAX_PRODUCT // max(1, 2 * family.count))
    seen = _Seen()
    # As many metrics at once as the memory of their products allows, at least one.
    start = 0
    while start < len(items):
        columns = _Columns(clusters=clusters)
        plans = list[tuple[_Plan | None, _Plan | None]]()

        stop = start
        while stop < len(items) and (columns.width < limit or stop == start):
            plans.append(_plans(items[stop], columns))
            stop += 1

        yield from _tests_of(items[start:stop], plans, columns, family, seen)
        start = stop


def _plans(item: PairedMetric, columns: _Columns) -> tuple[_Plan | None, _Plan | None]:
    """Return the columns of the reported number, None unless it is additive,
    and those of the scores.
    """
    signs = None
    scores = _compared_scores(item)
    scored = ~np.isnan(scores).any(axis=0)
    if scored.any():
        a, b = (
            columns.place(np.where(scored, of_system, 0.0)[:, None])
            for of_system in scores
        )
        signs = _Plan(lambda sums: sums[..., 0], a, b)

    addends = collect_addends(item)
    if addends is None:
        return None, signs
    of_sums = cast(MeanMetric, item.metric).of_sums
    reported = _Plan(of_sums, columns.place(addends[0]), columns.place(addends[1]))
    return reported, signs


def collect_addends(
    item: PairedMetric,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the addends (B, k) of both systems, zeros where one is undefined, and the
    mask (B,) of examples that are defined for both.

    None for a metric whose number is not a function of their sums, and without a
    defined example.
    """
    defined = _find_defined(item)
    if not defined.any() or not isinstance(item.metric, MeanMetric):
        return None
    if isinstance(item.a.stats, Objects):
        return None

    sides: list[np.ndarray] = []
    for side in (item.a, item.b):
        assert side.stats is not None and not isinstance(side.stats, Objects)
        addends = spread_addends(item.metric, side.stats, defined)
        if addends is None:
            return None
        sides.append(addends)
    return sides[0], sides[1], defined


def _find_defined(item: PairedMetric) -> np.ndarray:
    """Return the mask (B,) of examples for which both systems have statistics."""
    if item.a.stats is None or item.b.stats is None:
        return np.zeros(len(item.a.scores), dtype=bool)
    return is_defined(item.a.stats) & is_defined(item.b.stats)


def _compared_scores(item: PairedMetric) -> np.ndarray:
    """Return the scores of both systems, shape (2, B), 0 where they would be 0 without
    the constants of the metric.
    """
    return np.stack(
        [
            ties.without_constants(item.metric, side.stats, side.scores)
            for side in (item.a, item.b)
        ]
    )


def _settle_difference(
    outcome: ResampledDifference, item: PairedMetric
) -> ResampledDifference:
    """Return the tests of a difference of numbers, or of mean scores, after what
    rounding and the constants of the metric make of it.

    Numbers that are equal up to them have no difference and p-values of 1, and an
    interval that is no wider is none, as of numbers that do not vary.
    """
    scale = ties.tolerance(
        max(abs(outcome.a), abs(outcome.b)), item.metric.spec.tolerance
    )
    if _is_zero(item):
        scale = float("inf")
    if abs(outcome.difference) <= scale:
        p_values = {
            name: 1.0 for name in P_VALUES if not np.isnan(getattr(outcome, name))
        }
        outcome = replace(outcome, difference=0.0, **p_values)

    ends = outcome.ci95
    if ends is None or ends[1] - ends[0] > scale:
        return outcome
    return replace(outcome, ci95=None)


def _is_zero(item: PairedMetric) -> bool:
    """Return True where the numbers of both systems would be 0 without the constants of
    the metric, as all their scores would.
    """
    if not isinstance(item.metric, HasConstants):
        return False
    if item.a.stats is None or item.b.stats is None:
        return False
    defined = _find_defined(item)
    for side in (item.a, item.b):
        own_share = item.metric.own_share(cast(np.ndarray, side.stats)[defined])
        if not bool((own_share < 1).all()):
            return False
    return True


def _count_units(defined: np.ndarray, clusters: np.ndarray | None) -> int:
    """Return the number of independent units among the examples of a mask (B,):
    clusters, or the examples themselves.
    """
    return int(defined.sum()) if clusters is None else len(np.unique(clusters[defined]))


def _tests_of(
    items: Sequence[PairedMetric],
    plans: Sequence[tuple[_Plan | None, _Plan | None]],
    columns: _Columns,
    family: DrawFamily,
    seen: _Seen,
) -> Iterator[PairedTests]:
    """Yield the tests of metrics whose addends are columns of one product."""
    matrix = np.zeros((family.n_examples, 0))
    if columns.blocks:
        matrix = np.concatenate(columns.blocks, axis=1)
    total = matrix.sum(axis=0)
    resampled = resampled_sums(family, "resamples", matrix)
    assigned = resampled_sums(family, "assignments", matrix)
    nothing = np.empty((0, matrix.shape[1]))

    def sums(place: slice, *, bootstrap: bool) -> PairSums:
        draws, addends = (resampled, matrix) if bootstrap else (nothing, nothing)
        return PairSums(
            total[place], draws[:, place], assigned[:, place], addends[:, place]
        )

    def test_general(item: PairedMetric) -> tuple[ResampledDifference | None, str]:
        with seen.locks.setdefault(id(item.metric), Lock()):
            return _general(item, family, seen, columns.clusters)

    # Kernels, compression and matrix products leave other threads the interpreter.
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        general = [item for item, (plan, _) in zip(items, plans) if plan is None]
        outcomes = pool.map(test_general, general)
        for item, (reported, signs) in zip(items, plans):
            note = ""
            sign_test = None
            if reported is not None:
                # The bootstrap of one unit has no spread: it would be an interval of 0.
                bootstrap = _count_units(_find_defined(item), columns.clusters) > 1
                a = sums(reported.a, bootstrap=bootstrap)
                b = sums(reported.b, bootstrap=bootstrap)
                outcome = difference_of_sums(reported.of_sums, a, b, exact=family.exact)
            else:
                outcome, note = next(outcomes)
            if outcome is not None:
                outcome = _settle_difference(outcome, item)

            if signs is not None:
                a = sums(signs.a, bootstrap=False)
                b = sums(signs.b, bootstrap=False)
                sign_test = difference_of_sums(signs.of_sums, a, b, exact=family.exact)
                sign_test = _settle_difference(sign_test, item)

            bounds = item.metric.spec.bounds
            largest = float("inf") if bounds is None else bounds[1] - bounds[0]
            yield PairedTests(outcome, note, sign_test, *_counts(item), largest)
    finally:
        pool.shutdown(cancel_futures=True)


def _general(
    item: PairedMetric, family: DrawFamily, seen: _Seen, clusters: np.ndarray | None
) -> tuple[ResampledDifference | None, str]:
    """Return the tests of a metric that is not additive, through its ``reduce``,
    or None and the reason.
    """
    defined = _find_defined(item)
    if item.a.stats is None or item.b.stats is None:
        return None, "the run has no statistics of this metric; run the spec again"
    if not defined.any():
        return None, "no example is defined for both systems"

    own_interval = isinstance(item.metric, OwnInterval)
    count = _count_units(defined, clusters)
    if hasattr(item.metric, "left_out") or (own_interval and count >= JACKKNIFED):
        return _jackknife(item, defined, family.seed, seen, clusters)

    # A reduction that reads the texts cannot be repeated with weights on the rows.
    x = item.a.stats[defined]
    y = item.b.stats[defined]
    if id(item.metric) in seen.inseparable or not _is_separable(item.metric, x, y):
        seen.inseparable.add(id(item.metric))
        return None, NOT_RESAMPLED

    of_defined = None if clusters is None else number_clusters(clusters[defined])
    few = first_draws(DrawFamily(count, family.count, family.seed), GENERAL_DRAWS)
    repeats = item.metric.spec.resampled and not own_interval
    return difference_of_statistics(
        item.metric.reduce, x, y, few, repeats=repeats, clusters=of_defined
    ), ""


def _jackknife(
    item: PairedMetric,
    defined: np.ndarray,
    seed: int,
    seen: _Seen,
    clusters: np.ndarray | None = None,
) -> tuple[ResampledDifference, str]:
    """Return the tests of a metric by its numbers without parts of the examples of the
    mask (B,), and their note.
    """
    several = _count_units(defined, clusters) > 1
    (a, parts_a), (b, parts_b) = (
        _left_out(item.metric, side, defined, seed, seen, clusters)
        for side in (item.a, item.b)
    )
    with np.errstate(invalid="ignore"):  # numbers that are infinite have no difference
        difference = LeftOut(
            parts_a.values - parts_b.values, parts_a.share, parts_a.freedom
        )

    result = difference_of_parts(a, b, difference)
    unit = "examples" if clusters is None else "clusters"
    if np.isnan(result.difference):
        note = "the number is undefined for one of the systems"
    elif not several:
        note = f"a comparison needs at least two {unit}"
    elif result.ci95 is None:
        note = (
            "the difference is the same, or undefined, "
            "without each part of the examples"
        )
    else:
        note = jackknife_note(difference, int(defined.sum()))
    return result, note


def jackknife_note(left_out: LeftOut, examples: int) -> str:
    """Return the note of a metric that is tested by the jackknife."""
    size = round(left_out.share * examples, 1)
    return (
        "interval and p by a t test of the jackknife that leaves out "
        f"{len(left_out.values)} parts of {size:g} examples, "
        f"{left_out.freedom} degrees of freedom"
    )


def _left_out(
    metric: Metric,
    side: SystemData,
    defined: np.ndarray,
    seed: int,
    seen: _Seen,
    clusters: np.ndarray | None,
) -> tuple[float, LeftOut]:
    """Return the number of a system on the examples of the mask (B,),
    and the numbers without parts of them.
    """
    key = id(metric), id(side), defined.tobytes()
    if key not in seen.left_out:
        assert side.stats is not None

        rows = side.stats[defined]
        if _count_units(defined, clusters) < 2:
            parts = LeftOut(np.empty(0), 0.5, 1)
        elif clusters is not None:
            parts = leave_clusters_out(
                metric.reduce, rows, number_clusters(clusters[defined]), seed
            )
        elif hasattr(metric, "left_out"):
            parts = cast(Any, metric).left_out(rows, seed)
        else:
            weights = weights_without_groups(len(rows), seed)
            values = np.asarray(metric.reduce(rows, weights))
            parts = LeftOut(values, 1 / len(weights), len(weights) - 1)
        seen.left_out[key] = float(metric.reduce(rows)), parts
    return seen.left_out[key]


def _is_separable(metric: Metric, x: Statistics, y: Statistics) -> bool:
    """Return True when the number follows from weighted rows of both systems."""
    try:
        values = float(metric.reduce(x)), float(metric.reduce(y))
    except HarnessError:  # not fitted: the reduction reads the texts
        return False
    return separable(metric.reduce, x, y, values)


def _counts(item: PairedMetric) -> tuple[int, int, int, int]:
    """Return the numbers of examples defined for both systems, with a larger score of
    A, of B, and with equal scores.

    Scores are equal that differ by rounding or by the constants of the metric alone.
    """
    scores = _compared_scores(item)
    difference = scores[0] - scores[1]
    tie = ties.tolerance(ties.magnitude(scores.T), item.metric.spec.tolerance)

    # A run without statistics that this program reads has scores all the same.
    defined = _find_defined(item)
    n = int(defined.sum()) if defined.any() else int(np.sum(~np.isnan(difference)))
    a_larger = int(np.sum(difference > tie))
    b_larger = int(np.sum(difference < -tie))
    equal = int(np.sum(np.abs(difference) <= tie))
    return n, a_larger, b_larger, equal
