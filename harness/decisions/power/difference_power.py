"""Power of the test of two systems by a metric, or of two metrics by their agreement
with people, from a pilot run.

The pilot gives the standard error of the difference, which falls with the root of the
number of examples, and the difference is taken as normal. Tests are those of one pair,
without Holm's correction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.analysis.compare import compare_pairs
from harness.analysis.pairs import Pair, pairs
from harness.errors import HarnessError, InputError
from harness.results import ComparedRun, Run
from harness.stats.bootstrap import number_clusters, sum_over_clusters

SMALLEST_PILOT = 200
"""Smallest number of examples of a pilot; with fewer the variance of skewed scores is
too uncertain.
"""
FORM_ERROR = 0.03
"""Relative error of a standard error by the normal approximation, ties of scores and
the draws of the bootstrap, by the benchmark.
"""
Range = tuple[float, float, float]
"""Estimate, and the ends of its 95 % interval for the chance of the pilot's variance;
NaN where these are unknown.
"""


@dataclass(frozen=True)
class DifferencePower:
    """Power of the test of a difference with a number of examples."""

    metric: str
    """Metric, or ``A - B`` for two metrics."""
    examples: int
    """Number of examples, or of judged items."""
    detectable: Range
    """Smallest difference that is significant with the power that is asked for."""
    power: Range | None = None
    """Probability that the difference in question is significant; None without one."""
    needed: Range | None = None
    """Number of examples with which it has the power that is asked for."""


@dataclass(frozen=True)
class Pilot:
    """Standard error of a difference."""

    metric: str
    examples: int
    standard_error: float
    relative_error: float = math.nan
    """Standard error of the logarithm of :attr:`standard_error`;
    NaN where it is unknown.
    """

    def difference_power(
        self,
        difference: float | None,
        examples: int,
        level: float = 0.05,
        power: float = 0.8,
    ) -> DifferencePower:
        """Return the power of a difference with a number of examples,
        at a level of the two-sided test.

        >>> row = Pilot("cider", 400, 0.01, 0.05).difference_power(0.02, 800)
        >>> round(row.detectable[0], 4), round(row.power[0], 3), row.needed[0]
        (0.0198, 0.807, 785.0)
        """
        from scipy.special import ndtr, ndtri  # pyright: ignore[reportMissingTypeStubs]

        critical = float(ndtri(1 - level / 2))
        goal = float(ndtri(1 - level / 2) + ndtri(power))

        # Estimate, lower and upper end. The estimate is there without a relative error.
        error = self.standard_error * math.sqrt(self.examples / examples)
        ends = np.exp(1.96 * self.relative_error * np.array([0.0, -1.0, 1.0]))
        scale = error * ends
        scale[0] = error
        detectable: Range = tuple((goal * scale).tolist())
        if not difference:
            return DifferencePower(self.metric, examples, detectable)

        # A larger error is a smaller shift: the ends change places.
        shift = abs(difference) / scale[[0, 2, 1]]
        powers = ndtr(shift - critical) + ndtr(-shift - critical)
        needed = np.ceil(examples * (goal / shift[[0, 2, 1]]) ** 2)
        return DifferencePower(
            self.metric,
            examples,
            detectable,
            tuple(powers.tolist()),
            tuple(needed.tolist()),
        )


def pilots(
    run: str | Path, pair: Sequence[str], metrics: Sequence[str] | None = None
) -> tuple[list[Pilot], float | None, list[str]]:
    """Return the pilots of two systems, one per metric, or of two metrics of a run of
    judgments; the difference of these; and notes.

    Parameters
    ----------
    run : str or Path
        Run directory.
    pair : sequence of str
        Two models, or two metrics of a run of judgments.
    metrics : sequence of str, optional
        Metrics that are tested; default: all.

    Raises
    ------
    HarnessError
        There is no such model or metric, or the pilot is too small.
    """
    judged = Run.open(run)
    if judged.provenance.kind:
        return _pilot_of_metrics(judged, *pair)

    rows: list[Pilot] = []
    notes: list[str] = []
    for compared in pairs([ComparedRun.open(f"{run}::{name}") for name in pair]):
        for row in compare_pairs([compared], metrics=metrics):
            if row.n < SMALLEST_PILOT:
                raise InputError(
                    f"has {row.n} examples of both systems; "
                    f"a pilot needs at least {SMALLEST_PILOT}",
                    str(run),
                )
            if row.ci95 is None:
                reason = row.note or "the difference does not vary"
                notes.append(f"{row.metric}: {reason}")
                continue
            error = (row.ci95[1] - row.ci95[0]) / (2 * 1.96)
            relative = _relative_error(compared, row.metric)
            rows.append(Pilot(row.metric, row.n, error, relative))
    return rows, None, notes


def _relative_error(compared: Pair, metric: str) -> float:
    """Return :func:`relative_error` of the differences of the scores per example of two
    systems; NaN for a metric without such scores.
    """
    a = compared.a
    b = compared.b
    if metric not in a.table.metrics:
        return math.nan
    shared = [example for example in a.examples if example in b.row_of]
    rows_a = [a.row_of[example] for example in shared]
    rows_b = [b.row_of[example] for example in shared]

    column = compared.one.run.provenance.spec.get("cluster")
    names = np.array(a.clusters(str(column)))[rows_a] if column else np.array(shared)
    gaps = a.scores(metric)[rows_a] - b.scores(metric)[rows_b]
    return relative_error(gaps, number_clusters(names))


def relative_error(gaps: np.ndarray, clusters: np.ndarray) -> float:
    """Return the standard error of the logarithm of the standard error of a mean, from
    the kurtosis of its addends and :data:`FORM_ERROR`.

    Parameters
    ----------
    gaps : ndarray
        Addends, shape (B,), NaN where undefined.
    clusters : ndarray
        Number of the cluster of each, shape (B,).
    """
    sums = sum_over_clusters(np.nan_to_num(gaps - np.nanmean(gaps))[:, None], clusters)
    kurtosis = float(np.mean(sums**4) / np.mean(sums**2) ** 2)
    # A variance has the relative error sqrt((kurtosis - 1) / n), its root half of it.
    sampling = math.sqrt(max(kurtosis - 1, 0.0) / len(sums)) / 2
    return math.hypot(sampling, FORM_ERROR)


def _pilot_of_metrics(
    run: Run, a: str, b: str
) -> tuple[list[Pilot], float | None, list[str]]:
    """Return the pilot of two metrics of a run of judgments, and the difference of
    their agreement with people.
    """
    records = {
        record.metric: record
        for record in run.records
        if (record.details or {}).get("headline")
    }
    for name in (a, b):
        if name not in records:
            raise HarnessError.of_name("there is no metric", name, records, "there are")
    tests = (records[a].details or {}).get("against", {})

    error = tests.get(b, {}).get("standard_error")
    if error is None:
        raise InputError(
            f"has no standard error of {a} against {b}: "
            "run it again with tests and a bootstrap",
            str(run.path),
        )
    pilot = Pilot(f"{a} - {b}", int(run.provenance.data["examples"]), error)
    return [pilot], records[a].value - records[b].value, []
