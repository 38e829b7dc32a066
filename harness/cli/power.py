"""Estimate the numbers of candidates and references that reach a given p or power, from subsamples of a pilot run.

harness power runs/pilot --target-p 0.05
harness power runs/pilot --power 0.8 --alpha 0.05 --references 1..5
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.cli.options import add_json, add_registry, print_json, use_registry
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.analysis.power import PowerStudy


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
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="number of random orders of the captions")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N examples")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random orders")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the p-value and power of each size, and the sizes needed."""
    from harness import api

    use_registry(args)
    study = api.power(
        args.run, target_p=args.target_p, power=args.power, metrics=args.metric, alpha=args.alpha,
        candidates=_numbers(args.candidates), references=_numbers(args.references), repeats=args.repeats,
        seed=args.seed, limit=args.limit,
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


def _print(study: PowerStudy) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.console import console_for_tables
    from harness.reporting.numbers import number

    console = console_for_tables(140)
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for header in ("model", "metric", "n", "m", "p", "over repeats", "power"):
        table.add_column(header, justify="left" if header in ("model", "metric") else "right", no_wrap=True)
    last = None
    for size in study.sizes:
        names = (size.model, size.metric)
        labels = [escape(name) if names != last else "" for name in names]
        last = names
        interval = f"{number(size.p_low)} … {number(size.p_high)}"
        table.add_row(*labels, str(size.n), str(size.m), number(size.p), interval, number(size.power))
    console.print(table)
    goals = [f"p <= {study.target_p:g}"] if study.target_p else []
    goals += [f"power >= {study.power:g}"] if study.power else []
    for row in study.needed:
        if row.needed:
            text = f"reached with {row.needed.n} candidates and {row.needed.m} references"
        else:
            reached = f"p {number(row.largest.p)}, power {number(row.largest.power)}"
            size = f"{row.largest.n} candidates, {row.largest.m} references"
            text = f"not reached within the pilot ({size}: {reached})"
        console.print(f"{escape(row.model)}, {escape(row.metric)}: {' and '.join(goals)}: {text}", soft_wrap=True)
