"""The one-sided test of a row of a gate.

Which one it is depends on what is declared of the metric, not on the scores:

- a mean of scores within declared bounds: betting
  (:class:`harness.decisions.statistics.bounded_mean.BoundedMean`), valid at every n;
- right and wrong answers of a log, all of them 0 or 1 (:data:`RIGHT_OR_WRONG`): exact
  (:class:`harness.decisions.statistics.paired_shares.PairedShares`);
- any other function of sums: Student's t after Hall's transformation, undecided where
  the sample says too little
  (:class:`harness.decisions.statistics.one_sided.SkewedMean`), or, where so few
  examples differ that it does not matter how much they lose, a bound from their number
  (:class:`harness.decisions.statistics.changed_share.ChangedShare`);
- a number that is no function of sums: the same with the standard error of its interval
  in ``compare``.

A score of a log that is not declared to be right or wrong may look so, in a sample of
zeros and ones. The exact test then has half of the level: the other half is left to
samples of the same score in which other values occur.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import Protocol, cast

import numpy as np

from harness.analysis.paired_family import (
    PairedMetric,
    SystemData,
    collect_addends,
    paired_tests,
)
from harness.analysis.score_logs import LoggedScore
from harness.contracts import MeanMetric, Metric, Objects, SumMetric, is_defined
from harness.decisions.gate.margin import Margin
from harness.decisions.statistics.bounded_mean import BoundedMean
from harness.decisions.statistics.changed_share import ChangedShare
from harness.decisions.statistics.one_sided import FEWEST, SkewedMean
from harness.decisions.statistics.paired_shares import PairedShares
from harness.decisions.statistics.sample_size import LEVEL
from harness.errors import HarnessError, counted
from harness.run.sequences import mean_bounds, random_order, spread_addends
from harness.stats.anytime import influences
from harness.stats.bootstrap import number_clusters, sum_over_clusters
from harness.stats.draws import DrawFamily
from harness.stats.quantiles import normal_quantile
from harness.stats.ties import tolerance

DRAWS = 1000
"""Resamples of a number that is no function of sums."""
RIGHT_OR_WRONG = re.compile(
    r"acc(_norm|_bytes|_mutual_info|uracy)?|choice|(is_)?correct|em|exact(_match)?|"
    r"includes|match|pattern"
)
"""Names of scores of logs that are 1 for a right answer and 0 for a wrong one."""
T_TEST = "Student's t after Hall's transformation"
"""Method of a number without declared bounds of what an example contributes."""


class OneSided(Protocol):
    """Tests of a worsening against a limit from both sides."""

    def p_below(self, limit: float) -> float: ...
    def p_above(self, limit: float) -> float: ...
    def upper(self) -> float: ...
    def lower(self) -> float: ...
    def n_to_decide(self, limit: float, level_above: float | None = None) -> float: ...


@dataclass(frozen=True)
class GatedExamples:
    """The examples of a row."""

    names: Sequence[str]
    clusters: np.ndarray | None
    """Number of the cluster of each example, shape (B,); None for independent ones."""
    lacking: np.ndarray
    """Mask (B,) of those for which the new version has no value:
    they count as the worst one.
    """
    same_outputs: np.ndarray | None
    """Mask (B,) of those whose outputs are equal in both versions;
    None where the outputs are not known.
    """
    are_answers: bool = False
    """All scores, those of other slices too, are 0 or 1 (:func:`look_right_or_wrong`).
    """

    @cached_property
    def unit(self) -> np.ndarray:
        """Number of the independent unit of each example, shape (B,), in a random order
        that depends on the names alone.
        """
        numbers = np.arange(len(self.names))
        if self.clusters is not None:
            numbers = number_clusters(self.clusters)

        # A cluster is ordered by its first name, so that the order of a file does not
        # matter.
        first: dict[int, str] = {}
        for number, name in zip(numbers.tolist(), self.names):
            first[number] = min(name, first.get(number, name))
        order = random_order([first[number] for number in range(len(first))], 0)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank[numbers]

    def describe_equal(self, item: PairedMetric) -> str:
        """Return a note where nothing differs between the versions; empty otherwise."""
        count = counted(len(self.names), "example")
        everywhere = f"on all {count}" if len(self.names) > 1 else "on the only example"
        if self.same_outputs is not None:
            return f"same outputs {everywhere}" if self.same_outputs.all() else ""
        if np.array_equal(item.a.scores, item.b.scores):
            return f"same scores {everywhere}"
        return ""

    def describe_lacking(self) -> str:
        """Return a note on examples without a value in the new version;
        empty otherwise.
        """
        count = int(self.lacking.sum())
        if not count:
            return ""
        return f"{counted(count, 'example', 'has/have')} no value in the new version"

    def sum_units(self, columns: np.ndarray) -> np.ndarray:
        """Return the sums of columns (B, k) over each unit, shape (U, k)."""
        return sum_over_clusters(columns, self.unit)


@dataclass(frozen=True)
class RowTest:
    """The numbers of both systems with the test of the worsening."""

    new: float
    baseline: float
    worsening: float
    size: float
    """The margin in the unit of the metric."""
    test: OneSided
    method: str
    limit: float
    """Value that the test compares its mean with: the margin, or 0 for a mean of the
    worsening minus the share of the baseline.
    """
    least: float
    """Number of units at which a version without a change passes; inf where none does.
    """
    parts: int = 1
    """Number of tests that share the level."""
    reason: str = ""
    """Reason why nothing is decided; empty where the test decides."""

    @property
    def p_pass(self) -> float:
        """P-value of the hypothesis that the worsening is at least the margin."""
        return min(1.0, self.parts * self.test.p_below(self.limit))

    @property
    def p_fail(self) -> float:
        """P-value of the hypothesis that the worsening is at most the margin."""
        return min(1.0, self.parts * self.test.p_above(self.limit))

    @property
    def bounds(self) -> tuple[float, float]:
        """The one-sided bounds of the worsening; of a relative margin,
        those to compare with :attr:`size`.
        """
        moved = self.size - self.limit
        # Adding 0 turns the negative zero, which is printed with its sign, into 0.
        return self.test.lower() + moved + 0.0, self.test.upper() + moved + 0.0

    def n_to_decide(self, level_fail: float) -> float:
        """Return the number of units that decides with power .8; ``level_fail``: level
        at which one row fails the gate.
        """
        return self.test.n_to_decide(self.limit, level_fail / self.parts)


def choose_test(
    item: PairedMetric, margin: Margin, examples: GatedExamples, seed: int
) -> RowTest:
    """Return the test of one metric on the examples of one slice.

    Parameters
    ----------
    item : PairedMetric
        The metric with the data of the new version (a) and the baseline (b).
    margin : Margin
        Largest worsening.
    examples : GatedExamples
        The examples, for all of which the baseline is defined.
    seed : int
        Seed of the orders of betting, and of resampling.

    Raises
    ------
    HarnessError
        The metric has no sums and the margin is a share; a score lies outside of its
        declared bounds; the number cannot be tested.
    """
    scores = _read_scores(item)
    bounds = mean_bounds(item.metric)

    # Answers within a cluster depend on one another: their counts are not binomial.
    if scores is not None and examples.clusters is None and examples.are_answers:
        name = re.split(r"[,/]", item.metric.spec.name)[0]
        is_declared = RIGHT_OR_WRONG.fullmatch(name) is not None
        if is_declared or bounds is None:
            parts = 1 if is_declared else 2
            return _test_answers(item, scores, margin, examples, parts, seed)

    if scores is not None and bounds is not None:
        return _test_bounded(item, scores, bounds, margin, examples, 1, seed)

    # Without bounds there is no worst value for those that it lacks.
    if examples.lacking.any():
        return _leave_undecided(item, margin, examples)
    addends = collect_addends(item)
    if addends is None:
        return _resample(item, margin, examples, seed)
    return _test_sums(item, addends, margin, examples)


def lowest_value(item: PairedMetric) -> float | None:
    """Return the smallest possible number of a metric: as it declares, or 0 for a log
    without a negative score; None where unknown.
    """
    bounds = item.metric.spec.bounds
    if bounds is not None and np.isfinite(bounds[0]):
        return bounds[0]
    scores = np.concatenate([item.a.scores, item.b.scores])
    is_log = isinstance(item.metric, LoggedScore)
    return 0.0 if is_log and not bool((scores < 0).any()) else None


def worst_value(item: PairedMetric, are_answers: bool) -> float | None:
    """Return the worst possible score of an example, for the direction of the metric;
    None where it is not known.
    """
    bounds = (0.0, 1.0) if are_answers else mean_bounds(item.metric)
    if bounds is None:
        return None
    return bounds[0] if item.metric.spec.higher_is_better else bounds[1]


def look_right_or_wrong(item: PairedMetric) -> bool:
    """Return whether all scores are 0 or 1 and belong to a log that declares no other
    range.
    """
    scores = np.concatenate([item.a.scores, item.b.scores])
    if not isinstance(item.metric, LoggedScore):
        return False
    if item.metric.spec.bounds not in (None, (0.0, 1.0)):
        return False
    return bool(np.isin(scores[np.isfinite(scores)], (0.0, 1.0)).all())


def _read_scores(item: PairedMetric) -> np.ndarray | None:
    """Return the scores of the new version and the baseline, shape (2, B), NaN where
    undefined; None for a number that is no mean.
    """
    if not isinstance(item.metric, MeanMetric) or isinstance(item.metric, SumMetric):
        return None
    scores = np.full((2, len(item.a.scores)), np.nan)
    for row, side in zip(scores, (item.a, item.b)):
        if side.stats is None or isinstance(side.stats, Objects):
            return None
        defined = is_defined(side.stats)
        if not defined.any():
            continue
        addends = spread_addends(item.metric, side.stats, defined)
        if addends is None or addends.shape[1] != 2:
            return None
        # A subclass may weight its scores: its number is no plain mean.
        if bool((addends[defined, 1] != 1).any()):
            return None
        row[defined] = addends[defined, 0]
    return scores


def _fill_worst(
    item: PairedMetric, scores: np.ndarray, examples: GatedExamples
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (B,) of the new version, the worst possible ones where it lacks
    them, and those of the baseline.
    """
    new, old = scores.copy()
    worst = worst_value(item, examples.are_answers)
    assert worst is not None, "scores without bounds are not filled"
    new[examples.lacking] = worst
    return new, old


def _test_answers(
    item: PairedMetric,
    scores: np.ndarray,
    margin: Margin,
    examples: GatedExamples,
    parts: int,
    seed: int,
) -> RowTest:
    """Return the exact test of answers that are right (1) or wrong (0); ``parts``:
    number of tests that share the level.
    """
    if margin.relative:  # the share of a number that is estimated has no exact test
        return _test_bounded(item, scores, (0.0, 1.0), margin, examples, parts, seed)
    new, old = _fill_worst(item, scores, examples)

    # Only answers that changed enter the exact test.
    worse = sign_of(item) * (new - old)
    test = PairedShares(
        int((worse > 0).sum()), int((worse < 0).sum()), len(worse), LEVEL / parts
    )
    return RowTest(
        float(new.mean()),
        float(old.mean()),
        test.value,
        margin.size,
        test,
        "exact, right and wrong answers",
        margin.size,
        test.n_without_change(margin.size),
        parts,
    )


def _test_bounded(
    item: PairedMetric,
    scores: np.ndarray,
    bounds: tuple[float, float],
    margin: Margin,
    examples: GatedExamples,
    parts: int,
    seed: int,
) -> RowTest:
    """Return the test of a mean of scores within bounds; ``parts``:
    number of tests that share the level.
    """
    new, old = _fill_worst(item, scores, examples)
    sign = sign_of(item)
    baseline = float(old.mean())
    lowest = float(min(new.min(), old.min()))
    highest = float(max(new.max(), old.max()))
    slack = 1e-9 * (bounds[1] - bounds[0])
    if lowest < bounds[0] - slack or highest > bounds[1] + slack:
        outlier = lowest if lowest < bounds[0] - slack else highest
        raise HarnessError(
            f"'{item.metric.spec.name}' has a score of {outlier:g}, "
            f"outside of its bounds {bounds[0]:g} to {bounds[1]:g}"
        )
    if margin.relative and baseline < 0 < bounds[1]:
        raise HarnessError(
            f"'{item.metric.spec.name}' of the baseline is {baseline:.4g}: "
            "give its margin in its own unit, not in per cent"
        )

    # The worsening minus a share of the baseline is the mean of sign * new - weight *
    # old, again of values within known bounds.
    weight = sign + (
        margin.size * (-1 if bounds[1] <= 0 else 1) if margin.relative else 0.0
    )
    of_new = sorted((sign * bounds[0], sign * bounds[1]))
    of_old = sorted((-weight * bounds[0], -weight * bounds[1]))
    low = of_new[0] + of_old[0]
    high = of_new[1] + of_old[1]

    values = sign * new - weight * old
    unchanged = (sign - weight) * old
    columns = examples.sum_units(
        np.column_stack([values, np.ones(len(old)), unchanged])
    )
    test = BoundedMean(columns[:, 0], columns[:, 1], low, high, LEVEL / parts, seed)
    size = margin.in_units(baseline)
    limit = 0.0 if margin.relative else size
    return RowTest(
        float(new.mean()),
        baseline,
        sign * (float(new.mean()) - baseline),
        size,
        test,
        f"betting within {bounds[0]:g} to {bounds[1]:g}",
        limit,
        test.n_without_change(limit, columns[:, 2]),
        parts,
    )


def _test_sums(
    item: PairedMetric,
    addends: tuple[np.ndarray, np.ndarray, np.ndarray],
    margin: Margin,
    examples: GatedExamples,
) -> RowTest:
    """Return the test of a number that is a function of sums over examples, without
    known bounds of what an example contributes.
    """
    sign = sign_of(item)
    of_sums = cast(MeanMetric, item.metric).of_sums
    defined = examples.sum_units(addends[2][:, None].astype(np.float64))[:, 0]
    columns = [examples.sum_units(side)[defined > 0] for side in addends[:2]]
    new, old = (float(of_sums(side.sum(axis=0, keepdims=True))[0]) for side in columns)
    size = margin.in_units(old)

    changes = [influences(of_sums, side) for side in columns]
    # A relative margin moves with the baseline: its influence is that of the worsening
    # minus the margin.
    moved = (margin.size * np.sign(old) * changes[1]) if margin.relative else 0.0
    differ = np.asarray(
        np.any(np.abs(columns[0] - columns[1]) > tolerance(np.abs(columns[1])), axis=1)
    )
    mean = SkewedMean.of(
        sign * (new - old), sign * (changes[0] - changes[1]) - moved, differ
    )
    return _row_without_bounds(
        item, mean, (new, old), size, int(differ.sum()), defined[defined > 0]
    )


def _resample(
    item: PairedMetric, margin: Margin, examples: GatedExamples, seed: int
) -> RowTest:
    """Return the test of a number that is no sum,
    with the standard error of its interval.
    """
    if margin.relative:
        raise HarnessError(
            f"'{item.metric.spec.name}' is no function of sums over examples: "
            "give its margin in its own unit, not in per cent"
        )

    clusters = None if examples.clusters is None else number_clusters(examples.clusters)
    sizes = examples.sum_units(np.ones((len(examples.names), 1)))[:, 0]
    (tests,) = paired_tests([item], DrawFamily(len(sizes), DRAWS, seed), clusters)
    reported = tests.reported
    if reported is None:
        raise HarnessError(f"'{item.metric.spec.name}' cannot gate: {tests.note}")

    # Without outputs every example counts as changed.
    same = np.zeros(len(examples.names), dtype=bool)
    if examples.same_outputs is not None:
        same = examples.same_outputs
    changed = int((examples.sum_units(~same[:, None] * 1.0)[:, 0] > 0).sum())
    width = (reported.ci95[1] - reported.ci95[0]) / 2 if reported.ci95 else 0.0
    mean = SkewedMean.of_error(
        sign_of(item) * reported.difference,
        width / normal_quantile(0.975),
        len(sizes),
        changed,
    )
    return _row_without_bounds(
        item, mean, (reported.a, reported.b), margin.size, changed, sizes
    )


def _leave_undecided(
    item: PairedMetric, margin: Margin, examples: GatedExamples
) -> RowTest:
    """Return the row of a number without a worst value of the examples that the new
    version lacks; it has the others alone.
    """
    new, old = (_reduce_defined(item.metric, side) for side in (item.a, item.b))
    reason = "this metric has no worst value for them"
    worsening = sign_of(item) * (new - old)
    mean = SkewedMean(worsening, inf, len(examples.names), least=inf, reason=reason)
    size = margin.in_units(old)
    return RowTest(new, old, mean.value, size, mean, "", size, inf, reason=reason)


def _reduce_defined(metric: Metric, side: SystemData) -> float:
    """Return the number of a system on the examples that it has a value of; NaN without
    any.
    """
    if side.stats is None:
        return nan
    defined = is_defined(side.stats)
    return float(metric.reduce(side.stats[defined])) if defined.any() else nan


def _row_without_bounds(
    item: PairedMetric,
    mean: SkewedMean,
    numbers: tuple[float, float],
    size: float,
    changed: int,
    sizes: np.ndarray,
) -> RowTest:
    """Return the test of a number without known bounds of what an example contributes.

    ``changed`` is the number of units that changed, ``sizes`` has the number of
    examples of each unit, shape (U,).
    """
    bounds = item.metric.spec.bounds
    if bounds is None or not np.isfinite(bounds).all():
        reason = mean.reason
        if reason and bounds is None and isinstance(item.metric, LoggedScore):
            reason += ", unless bounds=(LOW, HIGH) declares a range"
        return RowTest(
            *numbers, mean.value, size, mean, T_TEST, size, inf, reason=reason
        )

    reach = (bounds[1] - bounds[0]) * float(sizes.max() / sizes.mean())
    few = ChangedShare(mean.value, changed, len(sizes), reach)
    least = few.n_without_change(size)
    # Where few units changed, their number decides, unless they moved the number by
    # more than their share of the range, or could by more than the margin.
    most = reach * changed / len(sizes)
    if mean.reason and changed < FEWEST and abs(mean.value) <= most < size:
        return RowTest(
            *numbers, mean.value, size, few, "number of changed examples", size, least
        )
    return RowTest(
        *numbers, mean.value, size, mean, T_TEST, size, least, reason=mean.reason
    )


def sign_of(item: PairedMetric) -> float:
    """Return the sign of the new number in the worsening."""
    return -1.0 if item.metric.spec.higher_is_better else 1.0
