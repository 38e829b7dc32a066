"""The function of the verb ``power``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.contracts import Values, VerbResult
from harness.decisions.power.difference_power import DifferencePower, pilots
from harness.decisions.power.estimates import DEFAULT_POWER
from harness.decisions.power.power import PowerStudy, study_pilot
from harness.decisions.power.rules import RuleName
from harness.decisions.power.tables import differences_table
from harness.errors import HarnessError
from harness.reporting.table import Table, number
from harness.spec.models import expand_ranges

MAX_STEPS = 10
"""Maximum number of sizes that a range of examples is listed with; longer ranges are
cut to geometric steps.
"""
Numbers = str | Iterable[int]
"""Numbers, or a text such as ``1..5`` or ``1,2,5``."""


@dataclass(frozen=True)
class DifferencePowers(VerbResult):
    """Power of the test of two systems, per metric and number of examples."""

    ROWS = "differences"

    differences: Sequence[DifferencePower]
    notes: Sequence[str]
    pair: tuple[str, str]
    difference: float | None
    """Difference in question: the one asked for, or that of the pilot."""
    power: float
    """Power that is asked for."""
    alpha: float
    """Level of the test."""

    def to_dict(self) -> Values:
        """Return differences and notes."""
        rows = [asdict(row) for row in self.differences]
        return {"differences": rows, "notes": list(self.notes)}

    def blocks(self) -> Iterator[Table | str]:
        """Yield the table, and the number of examples that is needed."""
        notes = [*self.notes, f"two-sided test of one pair at level {self.alpha:g}"]
        yield differences_table(self.differences, self.pair, self.power, notes)
        if self.differences and self.differences[0].needed:
            first = self.differences[0]
            assert first.needed is not None
            needed, low, high = first.needed
            interval = f" (95 % interval {low:,.0f} to {high:,.0f})"
            yield (
                f"{first.metric}: a difference of {number(self.difference)} needs "
                f"about {needed:,.0f} examples{interval if low == low else ''} for "
                f"power {self.power:g}"
            )


def power(
    run: str | Path,
    *,
    target_p: float | None = None,
    power: float | None = None,
    share: float | None = None,
    alpha: float = 0.05,
    combine: RuleName = "fisher-discrete",
    compare: Sequence[str] | None = None,
    difference: float | None = None,
    metrics: Sequence[str] = (),
    candidates: Numbers | None = None,
    references: Numbers | None = None,
    examples: Numbers | None = None,
    repeats: int = 3,
    limit: int | None = None,
    seed: int = 0,
    **options: Any,
) -> PowerStudy | DifferencePowers:
    """Return the p-value and power that each metric reaches at sizes within and beyond
    a pilot run, and the sizes needed; or the power of the test of two systems.

    Parameters
    ----------
    run, target_p, power, share, alpha, combine, metrics, repeats, limit, seed,
        **options
        As for :func:`harness.decisions.power.power.study_pilot`.
    candidates, references, examples : str or iterable of int, optional
        Numbers, or a text such as ``"1..5"``; a range of more than :data:`MAX_STEPS`
        numbers of examples is cut to geometric steps.
    compare : (str, str), optional
        Two models, or two metrics of a run of judgments: the smallest difference that
        their test detects.
    difference : float, optional
        With ``compare``: the difference whose number of examples is estimated.

    Raises
    ------
    HarnessError
        A parameter is out of range, the pilot has no metric with p-values, or is too
        small.
    """
    sizes = _geometric(read_numbers("examples", examples))
    if compare is not None:
        first, second = compare
        return _power_of_difference(
            run, (first, second), difference, metrics or None, sizes, alpha, power
        )
    return study_pilot(
        run,
        target_p=target_p,
        power=power,
        share=share,
        alpha=alpha,
        combine=combine,
        metrics=metrics,
        candidates=read_numbers("candidates", candidates),
        references=read_numbers("references", references),
        examples=sizes,
        repeats=repeats,
        limit=limit,
        seed=seed,
        **options,
    )


def _power_of_difference(
    run: str | Path,
    pair: tuple[str, str],
    asked: float | None,
    metrics: Sequence[str] | None,
    sizes: Sequence[int] | None,
    alpha: float,
    power: float | None,
) -> DifferencePowers:
    """Return the power of the test of two systems, a row per metric and number of
    examples.
    """
    pilots_of_pair, difference, notes = pilots(run, pair, metrics)
    difference = asked or difference
    power = power or DEFAULT_POWER
    if difference and len(pilots_of_pair) > 1:
        raise HarnessError(
            "difference is of one metric, which metrics=... names",
            parameter="difference",
        )
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise HarnessError(
                f"{name} is {value:g}; expected a number between 0 and 1",
                parameter=name,
            )
    if min(sizes or [1]) < 1:
        raise HarnessError(
            f"examples has {min(sizes or [1])}; expected numbers of at least 1",
            parameter="examples",
        )
    rows = [
        pilot.difference_power(difference, size, alpha, power)
        for pilot in pilots_of_pair
        for size in sizes or [pilot.examples]
    ]
    # The power at the difference that a pilot has seen says no more than its p-value.
    if not asked:
        rows = [replace(row, power=None) for row in rows]
    return DifferencePowers(rows, notes, pair, difference, power, alpha)


def read_numbers(option: str, text: Numbers | None) -> list[int] | None:
    """Return the numbers of an option, ranges and lists of them; None without one."""
    if text is None or not isinstance(text, str):
        return None if text is None else list(text)
    try:
        items = [item.strip() for item in text.split(",")]
        return [int(item) for item in expand_ranges(items)]
    except ValueError:
        raise HarnessError(
            f"{option}: expected numbers such as 1..5 or 1,2,5; found '{text}'",
            parameter=option,
        ) from None


def _geometric(values: list[int] | None) -> list[int] | None:
    """Return the values, or when there are more than ``MAX_STEPS`` about as many in
    geometric steps over their range.
    """
    if values is None or len(values) <= MAX_STEPS:
        return values
    low = min(values)
    high = max(values)
    ratio = high / max(low, 1)
    picked = {
        round(max(low, 1) * ratio ** (step / (MAX_STEPS - 1)))
        for step in range(MAX_STEPS)
    }
    return sorted({low, *picked})
