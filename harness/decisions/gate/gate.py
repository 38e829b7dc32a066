"""A gate for a new version of a system: its metrics are not worse than those of a
baseline by more than a margin, or they are.

*Passed*: the upper bound of the worsening lies below the margin for every metric and
slice. This is an intersection-union test, which needs no correction: at the margin it
passes with probability .05 at most. *Failed*: the lower bound lies above the margin for
one of them, adjusted by Holm. Anything else is *undecided*, with the number of examples
that would decide. All examples of the baseline are compared
(:mod:`harness.decisions.gate.examples`);
:mod:`harness.decisions.gate.margin_tests` has the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path

import numpy as np

from harness.analysis.compare import select_metrics
from harness.analysis.comparison_frame import Frame
from harness.analysis.paired_family import PairedMetric
from harness.analysis.pairs import (
    Pair,
    differences_of_runs,
    log_notes,
    open_sides,
    pairs,
)
from harness.analysis.score_declarations import Bounds, DeclaredScores, declare_scores
from harness.decisions.gate.examples import (
    ComparedExamples,
    compare_examples,
    find_slices,
)
from harness.decisions.gate.margin import Margin, verify_margin
from harness.decisions.gate.margin_tests import GatedExamples, choose_test, lowest_value
from harness.decisions.gate.result import GateResult, GateRow
from harness.decisions.statistics.sample_size import LEVEL
from harness.errors import HarnessError
from harness.registry.display_names import display_name
from harness.results import Run
from harness.run.stored_metrics import StoredMetric
from harness.stats.multiplicity import holm


@dataclass(frozen=True)
class _GatedMetric:
    """A row that is to be tested: a metric of a pair on the examples of a slice."""

    pair: Pair
    metric: str
    slice: str
    item: PairedMetric
    margin: Margin
    examples: GatedExamples
    left_out: int
    """Examples of the baseline, in the slice, that are not compared."""


def gate_margins(
    new: str | Path | Run,
    baseline: str | Path | Run,
    margins: Mapping[str, Margin],
    *,
    slices: str | None = None,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    allow_missing: bool = False,
    seed: int = 0,
) -> GateResult:
    """Return the verdict on the systems of a new run against those of a baseline.

    Parameters
    ----------
    new, baseline : str, Path or Run
        Run directories, ``RUN::MODEL``, or runs; systems are paired as
        :func:`harness.compare` pairs two runs.
    margins : mapping
        Label of a metric -> largest worsening.
    slices : str, optional
        Column of the metadata: every value of it is a slice that has to pass beside all
        examples.
    lower_is_better, higher_is_better, bounds
        Direction and range of the scores of logs, as for :func:`harness.compare`.
    allow_missing : bool
        Examples of the baseline that the new version lacks, or for which a metric has
        no value there, count as the worst value of the metric, and leave a metric
        without one undecided; default: they are refused.
    seed : int
        Seed of the orders of betting, and of resampling for numbers that are no
        functions of sums.

    Raises
    ------
    HarnessError
        The runs differ in data, references, or a metric's version; a metric has no
        direction; sets have different sizes; the new version lacks examples; a margin
        cannot be meant.
    """
    declared = DeclaredScores(lower_is_better, higher_is_better, bounds)
    sides = declare_scores(open_sides([new, baseline]), declared)
    compared = pairs(sides)
    differences = differences_of_runs(
        [side.run for side in sides],
        [side.name for side in sides],
        [record for pair in compared for record in pair.records],
    )
    if differences:
        raise HarnessError(differences[0])

    jobs: list[_GatedMetric] = []
    notes = dict.fromkeys(log_notes(sides, list(margins)))
    for pair in compared:
        frame = Frame()
        frame.add(pair)
        names = select_metrics(pair, list(margins))
        for name, margin in zip(names, margins.values()):
            item = _gated_item(pair, frame, name)
            remarks = pair.score_notes(name)
            if isinstance(item.metric, StoredMetric):
                remarks.append(item.metric.note)
            notes |= dict.fromkeys(f"{display_name(name)}: {text}" for text in remarks)

            examples = compare_examples(pair, frame, item, name, allow_missing)
            notes |= dict.fromkeys(examples.notes)
            for text, mask in find_slices(pair, frame, slices).items():
                jobs.append(_job(pair, name, text, item, margin, examples, mask))

    # One row that fails fails the gate: those p-values are adjusted. All rows have to
    # pass, which needs no correction.
    rows = [_test(job, seed, LEVEL / len(jobs)) for job in jobs]
    adjusted = holm([row.p_fail for row in rows])
    return GateResult(
        [replace(row, p_fail=float(p_value)) for row, p_value in zip(rows, adjusted)],
        list(notes),
    )


def _gated_item(pair: Pair, frame: Frame, metric: str) -> PairedMetric:
    """Return a metric of a pair with the data of both systems; raise
    :class:`HarnessError` for one that cannot gate.
    """
    size = pair.size_difference(metric) or frame.state_difference(pair, metric)
    if size:
        raise HarnessError(f"'{metric}' has no common scale: {size}")
    if refusal := frame.refusal(pair, metric):
        raise HarnessError(f"'{metric}' is {refusal}")
    item = frame.item(pair, metric)
    if item.metric.spec.higher_is_better is None:
        raise HarnessError(
            f"'{metric}' has no direction: larger is neither better nor worse, "
            "so that it cannot gate"
        )
    return item


def _job(
    pair: Pair,
    metric: str,
    text: str,
    item: PairedMetric,
    margin: Margin,
    examples: ComparedExamples,
    mask: np.ndarray,
) -> _GatedMetric:
    """Return the row of a slice, whose examples are those of a mask (B,)."""
    compared = mask & examples.mask
    return _GatedMetric(
        pair=pair,
        metric=metric,
        slice=text,
        item=item.restrict(compared),
        margin=margin,
        examples=examples.choose(compared),
        left_out=int((mask & examples.of_baseline & ~compared).sum()),
    )


def _test(job: _GatedMetric, seed: int, level_fail: float) -> GateRow:
    """Return the test of one metric on the examples of one slice; ``level_fail``: level
    at which one row fails the gate.
    """
    item = job.item
    examples = job.examples
    name = job.metric
    text = job.slice
    new_label, old_label = job.pair.labels
    in_slice = f" in {text}" if text else ""
    if not examples.names:
        raise HarnessError(f"'{name}' is undefined{in_slice} for {old_label}")
    tested = choose_test(item, job.margin, examples, seed)
    if isnan(tested.worsening) and not examples.lacking.any():
        raise HarnessError(
            f"'{name}' is undefined{in_slice} for {new_label} or {old_label}"
        )

    # A slice has a baseline of its own; the margin is meant for that of all examples.
    higher = bool(item.metric.spec.higher_is_better)
    if higher and not text:
        verify_margin(job.margin, name, tested.baseline, lowest_value(item))

    low, high = tested.bounds
    decided = min(tested.p_pass, tested.p_fail) <= LEVEL
    units = int(examples.unit.max()) + 1
    needed = tested.n_to_decide(level_fail)
    notes = [
        examples.describe_equal(item),
        examples.describe_lacking(),
        "" if decided else tested.reason,
    ]
    return GateRow(
        metric=name,
        system=new_label,
        slice=text,
        n=len(examples.names),
        new=tested.new,
        baseline=tested.baseline,
        left_out=job.left_out,
        worsening=tested.worsening + 0.0,  # -0 is printed with its sign
        low=low,
        high=high,
        margin=tested.size,
        p_pass=tested.p_pass,
        p_fail=tested.p_fail,
        needed=needed if decided else max(needed, units + 1.0),
        higher_is_better=higher,
        method=tested.method,
        least=tested.least,
        units=units,
        clustered=examples.clusters is not None,
        note=", ".join(filter(None, notes)),
    )
