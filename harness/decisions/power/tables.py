"""Sizes of a pilot with their power as a table, and the sizes needed as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.decisions.power.difference_power import DifferencePower
from harness.decisions.power.estimates import Estimate, Needed, PowerTarget
from harness.decisions.power.sizes import Size
from harness.errors import counted
from harness.reporting.table import Table, interval_text, number, p_text


def sizes_table(sizes: Sequence[Size], target: PowerTarget) -> Table:
    """Return a row per size: the p-values and the power that are measured or predicted
    there.
    """
    headers = [
        "model",
        "metric",
        "n",
        "m",
        "examples",
        "p",
        "range of p",
        "power",
        "95 % interval",
        "share",
        "source",
    ]
    rows: list[list[str]] = []
    previous = None
    for size in sizes:
        labels = [size.model, size.metric]
        rows.append(
            [
                *(labels if labels != previous else ["", ""]),
                str(size.n),
                str(size.m),
                str(size.examples),
                p_text(size.p),
                f"{p_text(size.p_low)} … {p_text(size.p_high)}",
                _percent(size.power),
                f"{_percent(size.power_low)} … {_percent(size.power_high)}",
                _percent(size.share),
                "extrapolated" if size.extrapolated else "pilot",
            ]
        )
        previous = labels

    extrapolated = ""
    if any(size.extrapolated for size in sizes):
        extrapolated = "; in extrapolated rows 95 % of simulated runs"
    note = (
        f"power: probability of a combined p <= {target.p:g}; range of p: "
        f"over repeats{extrapolated}"
    )
    return Table(
        headers,
        rows,
        "llrrrrrrrrl",
        notes=[note],
        secondary=("range of p", "share", "95 % interval"),
    )


def _percent(value: float) -> str:
    """Return a probability with two decimals, a dash for NaN.

    >>> _percent(0.8), _percent(float("nan"))
    ('0.80', '–')
    """
    return "–" if value != value else f"{value:.2f}"


def needed_lines(row: Needed, target: PowerTarget) -> Iterator[str]:
    """Yield the result of one metric and model: one line,
    and one more for each estimate and note.
    """
    goal = goal_text(target)
    head = f"{row.model}, {row.metric}"
    size = row.needed or row.largest
    candidates = counted(size.n, "candidate")
    references = counted(size.m, "reference")
    examples = counted(size.examples, "example")
    if row.needed:
        yield (
            f"{head}: {goal} is reached with {candidates} and {references} ({examples})"
        )
        return

    figures = f"power {_percent(size.power)}, share {_percent(size.share)}"
    yield (
        f"{head}: {goal} is not reached within the pilot "
        f"({candidates}, {references}, {examples}: {figures})"
    )
    for estimate in row.estimates:
        yield f"  {estimate_text(estimate, goal)}"
    for note in row.notes:
        yield f"  note: {note}"


def goal_text(target: PowerTarget) -> str:
    """Return a target as text.

    >>> from harness.decisions.power.estimates import PowerTarget
    >>> goal_text(PowerTarget(0.05, 0.8)), goal_text(PowerTarget(0.05, None, 0.5))
    ('power 0.8', 'share 0.5')
    """
    goals = [("power", target.power), ("share", target.share)]
    return " and ".join(
        f"{name} {value:g}" for name, value in goals if value is not None
    )


def estimate_text(estimate: Estimate, goal: str) -> str:
    """Return an estimate with its interval and the numbers that are held fixed.

    >>> from harness.decisions.power.estimates import Estimate
    >>> estimate = Estimate("examples", 90, 55, 400, 4000, n=4, m=5, examples=40)
    >>> print(*estimate_text(estimate, "power 0.8").split(", "), sep="\\n")
    50 more examples (95 % interval 15-360) for power 0.8
    with 4 candidates and 5 references (extrapolated)
    """
    counts = {
        "candidates": estimate.n,
        "references": estimate.m,
        "examples": estimate.examples,
    }
    start = counts.pop(estimate.axis)
    others = [counted(count, axis[:-1]) for axis, count in counts.items()]
    fixed = f"with {' and '.join(others)}"
    times = round(estimate.limit / start)
    limit = f"{estimate.limit:,} {estimate.axis}, {times} times the pilot's"
    if estimate.low is None:
        return f"{goal} cannot be reached within {limit}, {fixed} (extrapolated)"

    low = f"{max(0, estimate.low - start):,}"
    if estimate.high is None:
        interval = f"{low} to more than {estimate.limit - start:,}"
    else:
        interval = f"{low}-{estimate.high - start:,}"
    if estimate.value is None:
        return (
            f"{goal} cannot be reached within {limit}, "
            f"by the best estimate (95 % interval {interval} more), "
            f"{fixed} (extrapolated)"
        )
    return (
        f"{estimate.value - start:,} more {estimate.axis} (95 % interval {interval}) "
        f"for {goal}, {fixed} (extrapolated)"
    )


def differences_table(
    rows: Sequence[DifferencePower],
    pair: Sequence[str],
    power: float,
    notes: Sequence[str],
) -> Table:
    """Return a row per metric and number of examples: the smallest difference that the
    test of two systems detects, and its power at the difference in question.
    """
    has_power = any(row.power for row in rows)
    headers = [
        "metric",
        "examples",
        f"detected with power {power:g}",
        "95 % interval",
        *(("power", "95 % interval") if has_power else ()),
    ]
    cells: list[list[str]] = []
    for row in rows:
        detectable = row.detectable
        line = [row.metric, str(row.examples)]
        line += [number(detectable[0]), interval_text(detectable[1:])]
        if row.power:
            line += [number(row.power[0]), interval_text(row.power[1:])]
        cells.append(line)
    align = "l" + "r" * (len(headers) - 1)
    return Table(headers, cells, align, " - ".join(pair), notes)
