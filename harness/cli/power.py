"""Estimate the numbers of candidates, references and examples that reach a given p or power, from a pilot run.

harness power runs/pilot --target-p 0.05
harness power runs/pilot --power 0.8 --alpha 0.05 --references 1..5
harness power runs/pilot --examples 50..1000 --candidates 5,10,20

Sizes beyond the pilot are predicted and marked as extrapolated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.cli.options import add_json, add_registry, print_json, use_registry
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.analysis.power import Estimate, Needed, PowerStudy


MAX_STEPS = 10
"""Maximum number of sizes that a range of examples is listed with; longer ranges are cut to geometric steps."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness power``."""
    parser.add_argument("run", help="run directory of the pilot")
    parser.add_argument(
        "--target-p", type=float, metavar="P", help="combined p-value to reach (default 0.05 without --power)"
    )
    parser.add_argument("--power", type=float, metavar="SHARE", help="share of examples with p <= alpha to reach")
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="P", help="significance level of the test of one example"
    )
    parser.add_argument(
        "--metric", action="append", default=[], metavar="LABEL", help="only this metric (may be repeated)"
    )
    parser.add_argument("--candidates", metavar="1..10", help="numbers of candidates (default: 1 to the pilot's)")
    parser.add_argument("--references", metavar="1..5", help="numbers of references (default: the pilot's)")
    parser.add_argument(
        "--examples",
        metavar="50..1000",
        help=f"numbers of examples (default: the pilot's); a range of more than {MAX_STEPS} is cut to {MAX_STEPS} steps",
    )
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="number of random orders of the captions")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N examples of the pilot")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the random orders and of the resamples"
    )
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the p-value and power of each size, and the sizes needed."""
    from harness import api

    use_registry(args)
    study = api.power(
        args.run, target_p=args.target_p, power=args.power, metrics=args.metric, alpha=args.alpha,
        candidates=_numbers(args.candidates), references=_numbers(args.references),
        examples=_geometric(_numbers(args.examples)), repeats=args.repeats, seed=args.seed, limit=args.limit,
    )  # fmt: skip
    if args.json:
        print_json({"sizes": [asdict(size) for size in study.sizes], "needed": [asdict(item) for item in study.needed]})
    else:
        _print(study)
    return 0


def _numbers(text: str | None) -> list[int] | None:
    from harness.spec.models import expand_ranges

    if text is None:
        return None
    try:
        return [int(item) for item in expand_ranges([part.strip() for part in text.split(",")])]
    except ValueError:
        raise HarnessError(f"expected numbers such as 1..5 or 1,2,5; found '{text}'") from None


def _geometric(values: list[int] | None) -> list[int] | None:
    """Return the values, or when there are more than ``MAX_STEPS`` about as many in geometric steps over their range."""
    if values is None or len(values) <= MAX_STEPS:
        return values
    low, high = min(values), max(values)
    ratio = high / max(low, 1)
    picked = {round(max(low, 1) * ratio ** (step / (MAX_STEPS - 1))) for step in range(MAX_STEPS)}
    return sorted({low, *picked})


def _print(study: PowerStudy) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.console import console_for_tables
    from harness.reporting.numbers import number

    console = console_for_tables(140)
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for header in ("model", "metric", "n", "m", "examples", "p", "range of p", "power", "source"):
        table.add_column(header, justify="left" if header in ("model", "metric", "source") else "right", no_wrap=True)
    last = None
    for size in study.sizes:
        names = (size.model, size.metric)
        labels = [escape(name) if names != last else "" for name in names]
        last = names
        interval = f"{number(size.p_low)} … {number(size.p_high)}"
        source = "extrapolated" if size.extrapolated else "pilot"
        counts = (str(size.n), str(size.m), str(size.examples))
        table.add_row(*labels, *counts, number(size.p), interval, number(size.power), source)
    console.print(table)
    if any(size.extrapolated for size in study.sizes):
        console.print(
            "range of p: over repeats; in extrapolated rows the 95 % interval of simulated runs", soft_wrap=True
        )
    for row in study.needed:
        for line in _lines(row, study):
            console.print(escape(line), soft_wrap=True)


def _lines(row: Needed, study: PowerStudy) -> Iterator[str]:
    """Yield the result of one metric and model: one line, and one more for each estimate and note."""
    from harness.reporting.numbers import number

    goals = [f"p <= {study.target_p:g}"] if study.target_p else []
    goals += [f"power >= {study.power:g}"] if study.power else []
    head = f"{row.model}, {row.metric}: {' and '.join(goals)}"
    if row.needed:
        counts = f"{row.needed.n} candidates and {row.needed.m} references"
        yield f"{head}: reached with {counts} ({row.needed.examples} examples)"
        return
    size = f"{row.largest.n} candidates, {row.largest.m} references, {row.largest.examples} examples"
    reached = f"p {number(row.largest.p)}, power {number(row.largest.power)}"
    yield f"{head}: not reached within the pilot ({size}: {reached})"
    for note in row.notes:
        yield f"  note: {note}"
    for estimate in row.estimates:
        yield f"  {_estimate_text(estimate)}"


def _estimate_text(estimate: Estimate) -> str:
    """Return an estimate with its interval and the numbers that are held fixed."""
    beyond = f"more than {estimate.limit:,}"
    value, low, high = (
        beyond if item is None else f"{item:,}" for item in (estimate.value, estimate.low, estimate.high)
    )
    counts = {"candidates": estimate.n, "references": estimate.m, "examples": estimate.examples}
    fixed = " and ".join(f"{count:,} {axis}" for axis, count in counts.items() if axis != estimate.axis)
    interval = f"95 % interval {low} to {high}" if low != beyond else "95 % interval entirely beyond it"
    return f"estimated: {value} {estimate.axis} ({interval}; extrapolated) with {fixed}"
