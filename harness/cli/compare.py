"""Compare models by paired tests on the same examples.

  harness compare RUN              every pair of models of one run
  harness compare RUN_A RUN_B      the same models (or the only ones) of two runs
  harness compare RUN::A RUN::B    two models

Per metric: difference of the numbers that the result table reports, paired bootstrap 95 % interval, two-sided p-value of
approximate randomisation, the same adjusted by Holm over the pairs of a metric, and the sign test of the per-example scores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from harness.cli.options import add_json, print_json
from harness.contracts import Parameters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness compare``."""
    parser.add_argument("run_a", help="a run directory, or RUN::MODEL")
    parser.add_argument("run_b", nargs="?", help="another run directory, or RUN::MODEL")
    parser.add_argument("--any-data", action="store_true", help="compare runs on different data by example ids")
    parser.add_argument(
        "--draws",
        type=int,
        default=1000,
        metavar="N",
        help="number of random draws of each test",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random draws")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the comparisons."""
    from harness import api

    rows = api.compare(args.run_a, args.run_b, any_data=args.any_data, draws=args.draws, seed=args.seed)
    if args.json:
        print_json({"comparisons": rows})
    else:
        _print(rows)
    return 0


def _print(rows: Sequence[Parameters]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.console import console_for_tables
    from harness.reporting.numbers import ARROWS, number

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("A", "B"):
        table.add_column(name, justify="right")
    for header in ("metric", "A", "B", "A - B", "95 % interval", "p", "p (Holm)", "sign p", "n"):
        table.add_column(header, justify="left" if header == "metric" else "right", no_wrap=True)
    table.add_column("better")  # names may wrap, numbers must not
    pair = None
    for row in rows:
        names = (row["system_a"], row["system_b"])
        labels = [escape(name) for name in names] if names != pair else ["", ""]
        pair = names
        ci = row["ci95"]
        interval = f"{number(ci[0])} … {number(ci[1])}" if ci else "–"
        better = {"A": row["system_a"], "B": row["system_b"]}.get(row["better"], row["better"])
        metric = f"{row['metric']} {ARROWS[row['higher_is_better']]}"
        cells = [*labels, escape(metric), number(row["a"]), number(row["b"]), number(row["difference"]), interval]
        tests = [number(row[name]) for name in ("p_value", "p_holm", "sign_p_value")]
        table.add_row(*cells, *tests, str(row["n"]), escape(better if not row["note"] else row["note"]))
    console_for_tables().print(table)
