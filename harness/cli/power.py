"""How many candidates and references reach a given p or power: subsamples a pilot run, metric by metric.

harness power runs/pilot --target-p 0.05
harness power runs/pilot --power 0.8 --alpha 0.05 --references 1..5
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from harness.cli.options import add_json, add_registry, print_json, use_registry
from harness.errors import HarnessError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="a finished run: the pilot")
    parser.add_argument(
        "--target-p", type=float, metavar="P", help="combined p-value to reach (default 0.05 without --power)"
    )
    parser.add_argument("--power", type=float, metavar="SHARE", help="share of examples with p <= alpha to reach")
    parser.add_argument("--alpha", type=float, default=0.05, metavar="P", help="level of a single example's test")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="LABEL", help="only this metric (may be repeated)"
    )
    parser.add_argument("--candidates", metavar="1..10", help="numbers of candidates (default: 1 to the pilot's)")
    parser.add_argument("--references", metavar="1..5", help="numbers of references (default: the pilot's)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="random orders of the captions")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N examples")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    use_registry(args)
    from harness.analysis.power import needed, plan_sizes

    for option, value in (("--target-p", args.target_p), ("--power", args.power), ("--alpha", args.alpha)):
        if value is not None and not 0 < value <= 1:
            raise HarnessError(f"{option} is {value:g}; expected more than 0 and at most 1")
    for option, value in (("--repeats", args.repeats), ("--limit", args.limit)):
        if value is not None and value < 1:
            raise HarnessError(f"{option} is {value}; expected at least 1")
    target = args.target_p if args.target_p is not None or args.power is not None else 0.05
    sizes = plan_sizes(
        args.run, metrics=args.metric, candidates=_numbers(args.candidates), references=_numbers(args.references),
        repeats=args.repeats, alpha=args.alpha, seed=args.seed, limit=args.limit,
    )  # fmt: skip
    rows = needed(sizes, target_p=target, power=args.power)
    if args.json:
        print_json({"sizes": [asdict(size) for size in sizes], "needed": rows})
        return 0
    _print(sizes, rows, target, args.power)
    return 0


def _numbers(text: str | None) -> list[int] | None:
    from harness.spec.models import expand_ranges

    if text is None:
        return None
    try:
        return [int(item) for item in expand_ranges([part.strip() for part in text.split(",")])]
    except ValueError:
        raise HarnessError(f"expected numbers such as 1..5 or 1,2,5; found '{text}'") from None


def _print(sizes: list, rows: list, target: float | None, power: float | None) -> None:  # type: ignore[type-arg]
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.console import number

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=140)
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for header in ("model", "metric", "n", "m", "p", "over repeats", "power"):
        table.add_column(header, justify="left" if header in ("model", "metric") else "right", no_wrap=True)
    last = None
    for size in sizes:
        names = (size.model, size.metric)
        shown = [escape(name) if names != last else "" for name in names]
        last = names
        table.add_row(
            *shown,
            str(size.n),
            str(size.m),
            number(size.p),
            f"{number(size.p_low)} … {number(size.p_high)}",
            number(size.power),
        )
    console.print(table)
    goal = " and ".join(
        part for part in (f"p <= {target:g}" if target else "", f"power >= {power:g}" if power else "") if part
    )
    for row in rows:
        found = row["needed"]
        if found:
            told = f"reached with {found['n']} candidates and {found['m']} references"
        else:
            most = row["largest"]
            reached = f"p {number(most['p'])}, power {number(most['power'])}"
            told = f"not reached within the pilot ({most['n']} candidates, {most['m']} references: {reached})"
        console.print(f"{escape(row['model'])}, {escape(row['metric'])}: {goal}: {told}", soft_wrap=True)
