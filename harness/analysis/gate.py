"""A gate for a new version of a system: its metrics are not worse than those of a baseline by more than a margin, or they are.

*Passed*: the upper bound of the worsening lies below the margin for every metric and slice. This is an intersection-union test, which
needs no correction: at the margin it passes with probability .05 at most. *Failed*: the lower bound lies above the margin for one of
them, adjusted by Holm. Anything else is *undecided*, with the number of examples that would decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite, isnan
from pathlib import Path
from typing import Literal, cast

import numpy as np

from harness.analysis.compare import Frame, select_metrics
from harness.analysis.paired_family import PairedMetric, SystemData, collect_addends, paired_tests
from harness.analysis.pairs import ComparedRun, Pair, differences_of_runs, log_notes, pairs
from harness.analysis.score_declarations import Bounds, DeclaredScores, declare_scores
from harness.contracts import MeanMetric
from harness.errors import HarnessError, counted
from harness.registry.display_names import display_name
from harness.run.finished import Run
from harness.stats.anytime import influences
from harness.stats.bootstrap import number_clusters, sum_over_clusters
from harness.stats.draws import DrawFamily
from harness.stats.multiplicity import holm
from harness.stats.one_sided import LEVEL, SkewedMean
from harness.stats.quantiles import normal_quantile

Verdict = Literal["passed", "failed", "undecided"]
DRAWS = 1000
"""Resamples of a number that is no function of sums."""


@dataclass(frozen=True)
class Margin:
    """Largest worsening that is accepted."""

    size: float
    relative: bool = False
    """The margin is a share of the baseline's number."""

    @classmethod
    def parse(cls, text: str) -> Margin:
        """Return the margin ``0.01`` or ``1%``; raise :class:`HarnessError` for anything else."""
        match = re.fullmatch(r"\s*(\d*\.?\d+(?:e-?\d+)?)\s*(%?)\s*", text, re.IGNORECASE)
        if match is None:
            raise HarnessError(f"--max-drop is '{text}'; expected a number such as 0.01, or a share of the baseline such as 1%")
        return cls(float(match[1]) / (100 if match[2] else 1), bool(match[2]))

    def __str__(self) -> str:
        return f"{100 * self.size:g}%" if self.relative else f"{self.size:g}"


@dataclass(frozen=True)
class GateRow:
    """One metric of one slice: the worsening of the new system with its one-sided bounds."""

    metric: str
    system: str
    slice: str
    n: int
    new: float
    baseline: float
    worsening: float
    """Baseline minus new system, or the reverse for a cost; in units of the metric."""
    low: float
    """One-sided lower bound at level .05; of a relative margin, which moves with the baseline, the bound to compare with :attr:`margin`."""
    high: float
    """One-sided upper bound."""
    margin: float
    """The margin in units of the metric."""
    p_pass: float
    """P-value of the hypothesis that the worsening is at least the margin."""
    p_fail: float
    """P-value of the hypothesis that it is at most the margin, adjusted by Holm over all rows."""
    needed: float
    """Examples (or clusters) that would tell the worsening from the margin with power .8, if it is the one observed."""
    higher_is_better: bool
    left_out: int = 0
    """Examples of the slice that one version lacks, or that are undefined for one."""

    @property
    def verdict(self) -> Verdict:
        """The verdict of this row alone."""
        return "failed" if self.p_fail <= LEVEL else "passed" if self.p_pass <= LEVEL else "undecided"


@dataclass(frozen=True)
class GateResult:
    """Verdict of a gate over all metrics and slices."""

    rows: Sequence[GateRow]
    notes: Sequence[str] = ()
    """Remarks on logs of scores: directions, and values that are no scores."""

    @property
    def verdict(self) -> Verdict:
        """``failed`` where one row failed, ``passed`` where all passed."""
        verdicts = {row.verdict for row in self.rows}
        return "failed" if "failed" in verdicts else "undecided" if "undecided" in verdicts else "passed"

    @property
    def sentence(self) -> str:
        """One line: the verdict with the row that decides it."""
        if self.verdict == "passed":
            return f"passed: no worsening beyond the margin in {counted(len(self.rows), 'row')} ({self._name(max(self.rows, key=_excess))})"
        rows = [row for row in self.rows if row.verdict == self.verdict]
        if self.verdict == "failed":
            return f"failed: {'; '.join(map(self._name, rows))}"
        needed = max(row.needed for row in rows)
        more = (
            f"about {ceil(needed):,} examples would decide"
            if isfinite(needed)
            else "no number of examples decides a worsening equal to the margin"
        )
        return f"undecided: {'; '.join(map(self._name, rows))}; {more}"

    @staticmethod
    def _name(row: GateRow) -> str:
        place = f" in {row.slice}" if row.slice else ""
        bounds = f"[{row.low:.4g}, {row.high:.4g}]"
        return f"{display_name(row.metric)}{place} worse by {row.worsening:.4g} {bounds}, margin {row.margin:.4g}, n = {row.n:,}"


def _excess(row: GateRow) -> float:
    return row.high - row.margin


def gate(
    new: str | Path | Run, baseline: str | Path | Run, margins: Mapping[str, Margin], *, slices: str | None = None,
    lower_is_better: Sequence[str] = (), higher_is_better: Sequence[str] = (), bounds: Bounds | Mapping[str, Bounds] | None = None,
    seed: int = 0,
) -> GateResult:  # fmt: skip
    """Return the verdict on the systems of a new run against those of a baseline.

    Parameters
    ----------
    new, baseline : str, Path or Run
        Run directories, ``RUN::MODEL``, or runs; systems are paired as :func:`harness.compare` pairs two runs.
    margins : mapping
        Label of a metric -> largest worsening.
    slices : str, optional
        Column of the metadata: every value of it is a slice that has to pass beside all examples.
    lower_is_better, higher_is_better, bounds
        Direction and range of the scores of logs, as for :func:`harness.compare`.
    seed : int
        Seed of resampling, for numbers that are no functions of sums.

    Raises
    ------
    HarnessError
        The runs differ in data, references, or a metric's version; a metric has no direction; sets have different sizes.
    """
    sides = declare_scores([ComparedRun.open(run) for run in (new, baseline)], DeclaredScores(lower_is_better, higher_is_better, bounds))
    matched = pairs(sides)
    records = [record for pair in matched for record in pair.records]
    if differences := differences_of_runs([side.run for side in sides], [side.name for side in sides], records):
        raise HarnessError(differences[0])
    rows, notes = list[GateRow](), log_notes(sides, list(margins))
    for pair in matched:
        frame = Frame()
        frame.add(pair)
        for name, margin in zip(select_metrics(pair, list(margins)), margins.values()):
            if size := pair.size_difference(name) or frame.state_difference(pair, name):
                raise HarnessError(f"'{name}' has no common scale: {size}")
            item, clusters = frame.item(pair, name), frame.clusters()
            masks = {"": np.ones(len(frame.examples), dtype=bool), **(_slices(pair, frame, slices) if slices else {})}
            notes += [f"{display_name(name)}: {note}" for note in pair.score_notes(name)]
            of_pair = np.array([example in pair.a.row_of or example in pair.b.row_of for example in frame.examples])
            for text, mask in masks.items():
                row = _row(pair, name, text, _restrict(item, mask), margin, _part(clusters, mask), seed)
                rows.append(replace(row, left_out=int(np.sum(mask & of_pair)) - row.n))
    adjusted = holm([row.p_fail for row in rows])
    return GateResult([replace(row, p_fail=float(p_value)) for row, p_value in zip(rows, adjusted)], list(dict.fromkeys(notes)))


def _slices(pair: Pair, frame: Frame, column: str) -> dict[str, np.ndarray]:
    """Return value of a metadata column -> mask (B,) of its examples."""
    value_of = dict(zip(pair.a.examples, pair.a.clusters(column, "--slice")))
    values = np.array([value_of.get(example, "") for example in frame.examples])
    return {f"{column}={value}": values == value for value in dict.fromkeys(value_of.values())}


def _restrict(item: PairedMetric, mask: np.ndarray) -> PairedMetric:
    """Return a metric of a pair on the examples of a mask."""
    a, b = (SystemData(None if side.stats is None else side.stats[mask], side.scores[mask]) for side in (item.a, item.b))
    return PairedMetric(item.metric, a, b)


def _part(clusters: np.ndarray | None, mask: np.ndarray) -> np.ndarray | None:
    return None if clusters is None else number_clusters(clusters[mask])


def _row(pair: Pair, name: str, text: str, item: PairedMetric, margin: Margin, clusters: np.ndarray | None, seed: int) -> GateRow:
    """Return the test of one metric on the examples of one slice."""
    direction = item.metric.spec.higher_is_better
    if direction is None:
        raise HarnessError(f"'{name}' has no direction: larger is neither better nor worse, so that it cannot gate")
    sign = -1.0 if direction else 1.0
    place = f" in {text}" if text else ""
    addends = collect_addends(item)
    if addends is None:
        new, old, mean, n = _resample(item, sign, clusters, seed)
        if margin.relative:
            raise HarnessError(f"'{name}' is no function of sums over examples: give its margin in its own unit, not in per cent")
        size = margin.size
    else:
        columns = [side if clusters is None else sum_over_clusters(side, clusters) for side in addends[:2]]
        # An example that is undefined for a system has no addends; without clusters it is no unit.
        has_unit = addends[2] if clusters is None else np.ones(len(columns[0]), dtype=bool)
        of_sums = cast(MeanMetric, item.metric).of_sums
        new, old = (float(of_sums(side[has_unit].sum(axis=0, keepdims=True))[0]) for side in columns)
        size = margin.size * abs(old) if margin.relative else margin.size
        changes = [influences(of_sums, side[has_unit]) for side in columns]
        # A relative margin moves with the baseline: its influence is that of the worsening minus the margin.
        moved = (margin.size * np.sign(old) * changes[1]) if margin.relative else 0.0
        mean = SkewedMean.of(sign * (new - old), sign * (changes[0] - changes[1]) - moved)
        n = int(addends[2].sum())
    if isnan(mean.value):
        raise HarnessError(f"'{name}' is undefined{place} for {pair.labels[0]} or {pair.labels[1]}")
    return GateRow(
        metric=name, system=pair.labels[0], slice=text, n=n, new=new, baseline=old, worsening=mean.value + 0.0, low=mean.lower(),
        high=mean.upper(), margin=size, p_pass=mean.p_below(size), p_fail=mean.p_above(size), needed=mean.n_to_decide(size),
        higher_is_better=direction,
    )  # fmt: skip


def _resample(item: PairedMetric, sign: float, clusters: np.ndarray | None, seed: int) -> tuple[float, float, SkewedMean, int]:
    """Return the numbers of both systems, and the worsening with the standard error of its interval, of a number that is no sum."""
    units = len(item.a.scores) if clusters is None else int(clusters.max()) + 1
    (tests,) = paired_tests([item], DrawFamily(units, DRAWS, seed), clusters)
    reported = tests.reported
    if reported is None:
        raise HarnessError(f"'{item.metric.spec.name}' cannot gate: {tests.note}")
    ends = reported.ci95
    width = (ends[1] - ends[0]) / 2 if ends else 0.0 if reported.difference == 0 else float("inf")
    mean = SkewedMean(sign * reported.difference, width / normal_quantile(0.975), tests.n)
    return reported.a, reported.b, mean, tests.n
