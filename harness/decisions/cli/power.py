"""Estimate the numbers of candidates, references and examples that reach a given power,
from a pilot run.

  harness power runs/pilot
  harness power runs/pilot --target-p 0.01 --power 0.9 --references 1..5
  harness power runs/pilot --examples 50..1000 --candidates 5,10,20
  harness power runs/pilot --share 0.5 --alpha 0.05
  harness power runs/pilot --compare A B --metric cider --difference 0.02
  harness power runs/judged --compare cider meteor

Sizes beyond the pilot are predicted and marked as extrapolated. --compare is about the
test of two systems, or of two metrics of a run of judgments: the smallest difference
that it detects, and the number of examples for a given difference.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import harness
from harness.cli.options import (
    add_common,
    add_count,
    add_names,
    add_permissions,
    print_json,
)
from harness.errors import HarnessError, counted
from harness.reporting.folding import print_folded

if TYPE_CHECKING:
    from harness.decisions.power.power import Estimate, Needed, PowerStudy, PowerTarget
    from harness.reporting.table import Table


MAX_STEPS = 10
"""Maximum number of sizes that a range of examples is listed with;
longer ranges are cut to geometric steps.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness power``."""
    parser.add_argument("run", help="run directory of the pilot")

    _add_goal(parser)
    _add_difference(parser)
    _add_sizes(parser)

    add_count(parser, "--repeats", "number of random orders of the captions", 3)
    add_count(parser, "--limit", "only the first N examples of the pilot")
    add_count(parser, "--seed", "seed of the random orders and of the resamples", 0)
    add_permissions(parser)
    add_common(parser)


def _add_goal(parser: argparse.ArgumentParser) -> None:
    """Add the options of the power that is to be reached."""
    parser.add_argument(
        "--target-p",
        type=float,
        metavar="P",
        help="combined p-value that a run is to reach (default 0.05)",
    )
    parser.add_argument(
        "--power",
        type=float,
        metavar="PROBABILITY",
        help="probability to reach it (default 0.8; none with --share alone)",
    )
    parser.add_argument(
        "--share",
        type=float,
        metavar="SHARE",
        help="share of examples with p <= alpha to reach",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="P",
        help="significance level of the test of one example, for --share",
    )
    parser.add_argument(
        "--combine",
        default="fisher-discrete",
        metavar="NAME",
        help="combined p: fisher-discrete (default), or harmonic-mean, "
        "which is no calibrated p",
    )


def _add_difference(parser: argparse.ArgumentParser) -> None:
    """Add the options of the test of a difference."""
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="the test of two models, or of two metrics of a run of judgments",
    )
    parser.add_argument(
        "--difference",
        type=float,
        metavar="D",
        help="with --compare: the number of examples that detects a difference of D",
    )
    add_names(
        parser,
        "-m",
        "--metric",
        help="only these metrics: names with commas; may be repeated",
    )


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the numbers of captions and examples whose power is estimated."""
    parser.add_argument(
        "--candidates",
        metavar="1..10",
        help="numbers of candidates (default: 1 to the pilot's; "
        "more for metrics of sets alone)",
    )
    parser.add_argument(
        "--references",
        metavar="1..5",
        help="numbers of references (default: the pilot's)",
    )
    parser.add_argument(
        "--examples",
        metavar="50..1000",
        help="numbers of examples (default: the pilot's); "
        f"a range of more than {MAX_STEPS} is cut to {MAX_STEPS} steps",
    )


def run(args: argparse.Namespace) -> int:
    """Print the p-value and power of each size, and the sizes needed."""
    if args.compare:
        return _print_differences(args)

    study = harness.power(
        args.run,
        target_p=args.target_p,
        power=args.power,
        share=args.share,
        metrics=args.metric or (),
        alpha=args.alpha,
        candidates=_numbers("candidates", args.candidates),
        references=_numbers("references", args.references),
        examples=_geometric(_numbers("examples", args.examples)),
        repeats=args.repeats,
        seed=args.seed,
        limit=args.limit,
        combine=args.combine,
    )
    if args.json:
        print_json(
            {
                "sizes": [asdict(size) for size in study.sizes],
                "needed": [asdict(item) for item in study.needed],
            }
        )
    else:
        _print(study)
    return 0


def _print_differences(args: argparse.Namespace) -> int:
    """Print the power of the test of two systems,
    a row per metric and number of examples.
    """
    from harness.decisions.power.difference_power import pilots
    from harness.reporting.formats.terminal import print_table
    from harness.reporting.table import Table, interval_text, number

    pilots_of_pair, difference, notes = pilots(args.run, args.compare, args.metric)
    difference = args.difference or difference
    power = args.power or 0.8
    if difference and len(pilots_of_pair) > 1:
        raise HarnessError("--difference is of one metric, which --metric names")
    sizes = _geometric(_numbers("examples", args.examples)) or []
    if not (0 < power < 1 and 0 < args.alpha < 1 and min(sizes, default=1) > 0):
        raise HarnessError(
            "--power and --alpha lie between 0 and 1, and --examples are at least 1"
        )
    rows = [
        pilot.difference_power(difference, size, args.alpha, power)
        for pilot in pilots_of_pair
        for size in sizes or [pilot.examples]
    ]
    # The power at the difference that a pilot has seen says no more than its p-value.
    if not args.difference:
        rows = [replace(row, power=None) for row in rows]
    if args.json:
        print_json({"differences": [asdict(row) for row in rows], "notes": notes})
        return 0
    headers = [
        "metric",
        "examples",
        f"detected with power {power:g}",
        "95 % interval",
        *(("power", "95 % interval") if args.difference else ()),
    ]
    cells: list[list[str]] = []
    for row in rows:
        detectable = row.detectable
        line = [row.metric, str(row.examples)]
        line += [number(detectable[0]), interval_text(detectable[1:])]
        if row.power:
            line += [number(row.power[0]), interval_text(row.power[1:])]
        cells.append(line)
    notes.append(f"two-sided test of one pair at level {args.alpha:g}")
    align = "l" + "r" * (len(headers) - 1)
    print_table(Table(headers, cells, align, " - ".join(args.compare), notes))
    if rows and rows[0].needed:
        needed, low, high = rows[0].needed
        interval = "" if low != low else f" (95 % interval {low:,.0f} to {high:,.0f})"
        print_folded(
            f"{rows[0].metric}: a difference of {number(difference)} needs about "
            f"{needed:,.0f} examples{interval} for power {power:g}"
        )
    return 0


def _numbers(option: str, text: str | None) -> list[int] | None:
    """Return the numbers of an option, ranges and lists of them; None without one."""
    from harness.spec.models import expand_ranges

    if text is None:
        return None
    try:
        items = [item.strip() for item in text.split(",")]
        return [int(item) for item in expand_ranges(items)]
    except ValueError:
        raise HarnessError(
            f"--{option}: expected numbers such as 1..5 or 1,2,5; found '{text}'"
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


def _print(study: PowerStudy) -> None:
    from harness.reporting.formats.terminal import print_table

    print_table(sizes_table(study))
    for row in study.needed:
        for line in _lines(row, study.target):
            print_folded(line)


def sizes_table(study: PowerStudy) -> Table:
    """Return a row per size: the p-values and the power that are measured or predicted
    there.
    """
    from harness.reporting.table import Table, p_text

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
    for size in study.sizes:
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
    if any(size.extrapolated for size in study.sizes):
        extrapolated = "; in extrapolated rows 95 % of simulated runs"
    note = (
        f"power: probability of a combined p <= {study.target.p:g}; range of p: "
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


def _lines(row: Needed, target: PowerTarget) -> Iterator[str]:
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

    >>> from harness.decisions.power.power import PowerTarget
    >>> goal_text(PowerTarget(0.05, 0.8)), goal_text(PowerTarget(0.05, None, 0.5))
    ('power 0.8', 'share 0.5')
    """
    goals = [("power", target.power), ("share", target.share)]
    return " and ".join(
        f"{name} {value:g}" for name, value in goals if value is not None
    )


def estimate_text(estimate: Estimate, goal: str) -> str:
    """Return an estimate with its interval and the numbers that are held fixed.

    >>> from harness.decisions.power.power import Estimate
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
