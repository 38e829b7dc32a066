"""Estimation of the numbers of candidates,
references and examples that a metric needs, from a pilot run.

Within the pilot (Chan et al. 2022, Figure 3), the candidates and references of every
example are put into a random order and cut to n and m, and the examples are cut
likewise; the permutation p-values of the examples are combined as in a run. Repeats
with other orders show the spread. *Power* at a size is the probability that a run of
this size has a combined p-value of at most the target. *Share* is the share of examples
with p <= alpha.

Sizes beyond the pilot are predicted by :mod:`harness.decisions.power.model` and marked
as extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from harness.contracts import Values, VerbResult
from harness.decisions.power.estimates import (
    DEFAULT_POWER,
    Estimate,
    Needed,
    PowerTarget,
)
from harness.decisions.power.fit import AXES, smallest_p
from harness.decisions.power.model import Extrapolation, steps
from harness.decisions.power.rules import RuleName
from harness.decisions.power.sizes import (
    MAX_FACTOR,
    ModelStudy,
    Size,
    SizeRequest,
    base_examples,
    measured_size,
    model_studies,
    obstacle,
    rule_of,
)
from harness.decisions.power.tables import needed_lines, sizes_table
from harness.decisions.power.trials import PilotTrials, TrialOptions
from harness.errors import HarnessError
from harness.reporting.table import Table
from harness.run.metric_plan import MetricPlan

MAX_EXAMPLES = 100_000
"""Largest number of examples of an estimate (at least twice the pilot's)."""


@dataclass(frozen=True)
class PowerStudy(VerbResult):
    """Sizes of a pilot with their p-values and power,
    and the sizes needed to reach a target.
    """

    ROWS = "sizes"

    sizes: tuple[Size, ...]
    needed: tuple[Needed, ...]
    target: PowerTarget

    def to_dict(self) -> Values:
        """Return sizes and needed sizes."""
        return {
            "sizes": [asdict(size) for size in self.sizes],
            "needed": [asdict(item) for item in self.needed],
        }

    def blocks(self) -> Iterator[Table | str]:
        """Yield the table of sizes and the lines of those needed."""
        yield sizes_table(self.sizes, self.target)
        for row in self.needed:
            yield from needed_lines(row, self.target)


def study_pilot(
    run: str | Path,
    *,
    target_p: float | None = None,
    power: float | None = None,
    share: float | None = None,
    metrics: Sequence[str] = (),
    candidates: Iterable[int] | None = None,
    references: Iterable[int] | None = None,
    examples: Iterable[int] | None = None,
    repeats: int = 3,
    alpha: float = 0.05,
    seed: int = 0,
    limit: int | None = None,
    combine: RuleName = "fisher-discrete",
    progress: Callable[[int], None] = lambda steps: None,
) -> PowerStudy:
    """Return the p-value and power that each metric reaches at sizes within and beyond
    a pilot run, and the sizes needed.

    Sizes within the pilot are measured on subsets of its captions and examples. Sizes
    beyond it are predictions with 95 % intervals and have ``extrapolated=True``; where
    the pilot does not reach the target, ``needed`` holds estimates of the numbers of
    examples, candidates and references that do.

    Parameters
    ----------
    run : str or Path
        A finished run: the pilot.
    target_p : float, optional
        Combined p-value that a run is to reach (default 0.05).
    power : float, optional
        Probability to reach it (default 0.8, or none when only ``share`` is given).
    share : float, optional
        Share of examples with p <= alpha to reach.
    metrics : sequence of str
        Labels of metrics; empty: all with p-values.
    candidates, references, examples : iterable of int, optional
        Sizes; default: 1 to the pilot's number of candidates, and the pilot's numbers
        of references and of examples with a p-value.
    repeats : int
        Number of random orders.
    alpha : float
        Significance level of the test of one example, for the share of examples.
    seed : int
        Seed of the random orders and of the resamples.
    limit : int, optional
        Number of examples of the pilot that are used, from the first.
    combine : str
        Combination of the p-values of a run: ``fisher-discrete``
        (:func:`harness.stats.combine.calibrated_p`) or ``harmonic-mean``.
    progress : callable
        Called with 1 after each size of each metric and repeat.

    Raises
    ------
    HarnessError
        A parameter is out of range, the pilot has no metric with p-values, or is too
        small for every size, or to predict others.
    """
    _verify_shares(target_p=target_p, power=power, share=share, alpha=alpha)
    _verify_counts(repeats=repeats, limit=limit)
    if power is None and (share is None or target_p is not None):
        power = DEFAULT_POWER

    target = PowerTarget(0.05 if target_p is None else target_p, power, share)
    request = SizeRequest(
        tuple(candidates or ()), tuple(references or ()), tuple(examples or ())
    )
    options = TrialOptions(repeats, alpha, target.p, seed, rule_of(combine), progress)

    studies = model_studies(run, metrics, request, options, limit)
    sizes = tuple(size for study in studies for size in study.sizes)
    rows = [row for study in studies for row in _with_estimates(study, target)]
    return PowerStudy(sizes, tuple(rows), target)


def _verify_shares(**values: float | None) -> None:
    """Raise :class:`HarnessError` for a parameter that is no share."""
    for name, value in values.items():
        if value is not None and not 0 < value <= 1:
            raise HarnessError(
                f"{name} is {value:g}; expected more than 0 and at most 1",
                parameter=name,
            )


def _verify_counts(**values: int | None) -> None:
    """Raise :class:`HarnessError` for a parameter that is no count."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise HarnessError(
                f"{name} is {value}; expected at least 1", parameter=name
            )


def needed(sizes: Sequence[Size], target: PowerTarget) -> list[Needed]:
    """Return for every model and metric the smallest measured size that reaches the
    target; extrapolated sizes do not count.
    """
    groups: dict[tuple[str, str], list[Size]] = {}
    for size in sizes:
        if not size.extrapolated:
            groups.setdefault((size.model, size.metric), []).append(size)

    def order(size: Size) -> tuple[int, int, int]:
        return size.n + size.m, size.n, size.examples

    rows: list[Needed] = []
    for (model, metric), group in groups.items():
        reaching = [size for size in group if target.is_reached(size)]
        smallest = min(reaching, key=order, default=None)
        rows.append(Needed(model, metric, smallest, max(group, key=order)))
    return rows


def _with_estimates(study: ModelStudy, target: PowerTarget) -> list[Needed]:
    """Return the sizes needed by the metrics of one model, with estimates where the
    pilot does not reach the target.
    """
    trials = study.trials
    base = (trials.n, trials.m)
    trials.measure(study.plans, [base])
    rows: list[Needed] = []
    for plan in study.plans:
        if base not in trials.trials(plan.label):
            continue
        pilot = (*base, base_examples(trials, plan))
        size = measured_size(trials, plan, trials.extrapolation(plan.label), pilot)
        (row,) = needed([*study.sizes_of(plan.label), size], target)

        # Only then are the sizes measured on which predictions are fitted.
        if row.needed is None:
            trials.measure([plan], trials.fit_sizes())
            row = _estimate_need(trials, plan, row, target)
        rows.append(row)
    return rows


def _estimate_need(
    trials: PilotTrials, plan: MetricPlan, row: Needed, target: PowerTarget
) -> Needed:
    """Return a row with estimates of the sizes that the pilot does not have, and the
    reasons for those that are missing.
    """
    extrapolation = trials.extrapolation(plan.label)
    notes = _floor_notes(trials, target)
    estimates: list[Estimate] = []

    # More examples leave the share of examples with a small p as it is.
    reason = obstacle(trials, plan, extrapolation, ())
    if extrapolation is not None and target.share is None and reason is None:
        estimates.append(estimate(extrapolation, "examples", target))

    for axis in AXES:
        reason = obstacle(trials, plan, extrapolation, [axis])
        if reason is None and extrapolation is not None:
            estimates.append(estimate(extrapolation, axis, target))
        elif reason is not None and reason not in notes:
            notes.append(reason)
    return replace(row, estimates=tuple(estimates), notes=tuple(notes))


def estimate(extrapolation: Extrapolation, axis: str, target: PowerTarget) -> Estimate:
    """Return the smallest number on one axis with which runs reach the target."""
    n, m = extrapolation.base
    examples = extrapolation.examples
    start = {"examples": examples, "candidates": n, "references": m}[axis]
    limit = start * MAX_FACTOR[axis]
    if axis == "examples":
        limit = min(limit, max(MAX_EXAMPLES, 2 * start))

    # The target is sought on a grid, and interpolated between its points.
    values = steps(2, limit, 1.25) if axis == "examples" else steps(start, limit, 1.1)
    margins = np.array(
        [_margins(extrapolation, axis, value, target) for value in values]
    )
    smallest = np.array([_first(values, column) for column in margins.T])
    # The pilot itself does not reach the target.
    smallest[0] = max(smallest[0], start + 1.0)
    value, low, high = extrapolation.interval(np.maximum(smallest, start))
    return Estimate(
        axis, _finite(value), _finite(low), _finite(high), limit, n, m, examples
    )


def _margins(
    extrapolation: Extrapolation, axis: str, value: int, target: PowerTarget
) -> np.ndarray:
    """Return the excess of the pilot and its resamples over the target, negative where
    they miss it.
    """
    n, m = extrapolation.base
    size = (value if axis == "candidates" else n, value if axis == "references" else m)
    margins = [np.ones(1)]
    if target.power is not None:
        examples = value if axis == "examples" else extrapolation.examples
        margins.append(extrapolation.power(*size, examples) - target.power)
    if target.share is not None:
        margins.append(extrapolation.shares(*size) - target.share)
    return np.min(np.broadcast_arrays(*margins), axis=0)


def _first(values: Sequence[int], margins: np.ndarray) -> float:
    """Return the smallest of the values whose margin is not negative, interpolated
    between neighbours; infinity for none.
    """
    reached = np.flatnonzero(margins >= 0)
    if not len(reached):
        return float(np.inf)
    index = int(reached[0])
    if index == 0:
        return float(values[0])
    below = margins[index - 1]
    above = margins[index]
    share = -below / (above - below)
    step = values[index] - values[index - 1]
    return float(np.ceil(values[index - 1] + share * step - 1e-9))


def _finite(value: float) -> int | None:
    return int(value) if np.isfinite(value) else None


def _floor_notes(trials: PilotTrials, target: PowerTarget) -> list[str]:
    """Return the reason for which the number of texts forbids the target for a single
    example.
    """
    n = trials.n
    m = trials.m
    alpha = trials.options.alpha
    floor = smallest_p(n, m)
    if target.share is None or floor <= alpha:
        return []
    text = (
        f"no single example can have p <= {alpha:g} with {n} candidates and {m} "
        f"references: the smallest p is {floor:.3g}"
    )
    for enough in range(n + 1, 20 * n + 1):
        if smallest_p(enough, m) <= alpha:
            return [f"{text} ({enough} candidates allow it)"]
    return [text]
