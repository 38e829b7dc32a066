"""Compare models by paired tests on the same examples.

  harness compare RUN                     every pair of models of one run
  harness compare RUN --baseline MODEL    every other model against one
  harness compare RUN_A RUN_B             the same models (or the only ones) of two runs
  harness compare RUN::A RUN::B           two models

Per metric: difference of the numbers that the result table reports, paired bootstrap 95 % interval, two-sided p-value of
approximate randomisation, the same adjusted by Holm over the pairs of the metric (p Holm) and by Benjamini-Hochberg over the
table (p BH), and the sign test of the per-example scores with the numbers of examples that are larger in A, in B, and equal.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.cli.options import add_json, print_json
from harness.contracts import Parameters, Values

if TYPE_CHECKING:
    from rich.console import Console

    from harness.analysis.clusters import DifferingExample, RankedSystem

MAX_PAIRS = 10
"""Number of pairs that are printed without ``--pairs``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness compare``."""
    parser.add_argument("run_a", help="a run directory, or RUN::MODEL")
    parser.add_argument("run_b", nargs="?", help="another run directory, or RUN::MODEL")
    parser.add_argument("--baseline", metavar="MODEL", help="compare the other models of the run with this one alone")
    parser.add_argument(
        "-m", "--metric", action="append", metavar="NAME", help="compare this metric alone; may be repeated"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="compare runs that differ in data, metrics or references; the output says so",
    )
    parser.add_argument(
        "--draws", type=int, default=10_000, metavar="N", help="random draws of each test (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random draws")
    parser.add_argument(
        "--pairs", action="store_true", help=f"print all pairs, also where there are more than {MAX_PAIRS}"
    )
    parser.add_argument(
        "--examples", type=int, metavar="N", help="print the N examples on which two systems differ most (one pair: 3)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the comparisons."""
    from harness.analysis.clusters import rankings
    from harness.analysis.compare import compare_runs

    paths = [args.run_a, *([args.run_b] if args.run_b else [])]
    rows = compare_runs(
        paths, baseline=args.baseline, metrics=args.metric, force=args.force, draws=args.draws, seed=args.seed,
        show=not args.json,
    )  # fmt: skip
    clusters = rankings(rows)
    examples = _examples(paths, rows, args)
    if args.json:
        ranked = {metric: [asdict(system) for system in systems] for metric, systems in clusters.items()}
        values: Values = {"comparisons": rows, "clusters": ranked}
        print_json({**values, **({"examples": [asdict(item) for item in examples]} if examples else {})})
        return 0
    from harness.reporting.console import console_for_tables

    _print(console_for_tables(), rows, clusters, examples, args)
    return 0


def _examples(paths: Sequence[str], rows: Sequence[Parameters], args: argparse.Namespace) -> list[DifferingExample]:
    """Return the examples on which the systems of the only pair differ most, by its first metric."""
    from harness.analysis.clusters import differing_most
    from harness.analysis.compare import ComparedRun, pairs, pairs_against
    from harness.errors import HarnessError

    sides = [ComparedRun.open(path) for path in paths]
    chosen = pairs(sides) if args.baseline is None else pairs_against(sides, args.baseline)
    if len(chosen) != 1:
        if args.examples:
            raise HarnessError(
                f"--examples belongs to one pair of systems; there are {len(chosen)}: choose with RUN::MODEL"
            )
        return []
    count = 3 if args.examples is None else args.examples
    return differing_most(chosen[0], str(rows[0]["metric"]), count) if count else []


def _print(
    console: Console,
    rows: Sequence[Parameters],
    clusters: Parameters,
    examples: Sequence[DifferingExample],
    args: argparse.Namespace,
) -> None:
    n_pairs = len({(row["system_a"], row["system_b"]) for row in rows})
    for metric, systems in clusters.items() if n_pairs > 1 else ():
        _print_clusters(console, metric, systems, rows)
    if n_pairs <= MAX_PAIRS or args.pairs:
        _print_pairs(console, rows)
    else:
        console.print(f"{n_pairs} pairs of systems; --pairs prints each of them, --json has all numbers", style="dim")
    if all(row["difference"] == 0 for row in rows if row["difference"] is not None):
        console.print("All differences are 0: the systems have the same numbers.")
    for sentence in rows[0].get("forced", ()):
        console.print(f"--force: {sentence}", markup=False, style="bold")
    _print_examples(console, rows, examples)


def _print_clusters(console: Console, metric: str, systems: Sequence[RankedSystem], rows: Sequence[Parameters]) -> None:
    """Print the ranking of a metric: systems that share a letter are not told apart."""
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.numbers import ARROWS, number

    direction = next(row["higher_is_better"] for row in rows if row["metric"] == metric)
    table = Table(
        title=escape(f"{metric} {ARROWS[direction]}"),
        title_justify="left",
        show_edge=False,
        header_style="bold",
        pad_edge=False,
    )
    for header in ("system", "value", "cluster", "better than", "worse than"):
        table.add_column(
            header, justify="left" if header in ("system", "cluster") else "right", no_wrap=header != "system"
        )
    for item in systems:
        table.add_row(escape(item.system), number(item.value), item.letters, str(item.wins), str(item.losses))
    console.print(table)
    console.print("systems that share a letter do not differ significantly (p Holm > 0.05)\n", style="dim")


def _print_pairs(console: Console, rows: Sequence[Parameters]) -> None:
    """Print a table per pair of systems."""
    from rich.markup import escape
    from rich.table import Table

    from harness.reporting.numbers import ARROWS, number, p_text

    grouped: dict[tuple[str, str], list[Parameters]] = {}
    for row in rows:
        grouped.setdefault((row["system_a"], row["system_b"]), []).append(row)
    for (a, b), own in grouped.items():
        table = Table(
            title=escape(f"A = {a}   B = {b}"),
            title_justify="left",
            show_edge=False,
            pad_edge=False,
            header_style="bold",
        )
        for header in (
            "metric",
            "A",
            "B",
            "A - B",
            "95 % interval",
            "p",
            "p Holm",
            "p BH",
            "sign p",
            "A>B/=/A<B",
            "better",
        ):
            table.add_column(
                header, justify="left" if header in ("metric", "better") else "right", no_wrap=header != "better"
            )
        for row in own:
            ci = row["ci95"]
            interval = f"{number(ci[0])} … {number(ci[1])}" if ci else "–"
            better = {"A": a, "B": b}.get(row["better"], row["better"])
            counts = f"{row['a_larger']}/{row['ties']}/{row['b_larger']}" if row["sign_p_value"] is not None else "–"
            tests = [p_text(row[name]) for name in ("p_value", "p_holm", "p_bh", "sign_p_value")]
            table.add_row(
                escape(f"{row['metric']} {ARROWS[row['higher_is_better']]}"),
                number(row["a"]), number(row["b"]), number(row["difference"]), interval, *tests, counts, escape(str(better)),
            )  # fmt: skip
        console.print(table)
        for note in dict.fromkeys(row["note"] for row in own if row["note"]):
            names = ", ".join(row["metric"] for row in own if row["note"] == note)
            console.print(escape(f"{names}: {note}"), style="dim")
        draws = sorted({f"{row['draws']:,}{' (all patterns)' if row['exact'] else ''}" for row in own if row["draws"]})
        console.print(
            f"{own[0]['n']} examples; p: approximate randomisation, {' or '.join(draws) or 'no'} draws\n", style="dim"
        )


def _print_examples(console: Console, rows: Sequence[Parameters], examples: Sequence[DifferingExample]) -> None:
    """Print captions and scores of the examples on which two systems differ most."""
    from rich.markup import escape

    from harness.reporting.numbers import number

    if not examples:
        return
    row = rows[0]
    console.print(escape(f"Largest differences of {row['metric']}:"), style="bold")
    for item in examples:
        console.print(escape(f"{item.example}"))
        for name, score, texts in (
            (row["system_a"], item.score_a, item.candidates_a),
            (row["system_b"], item.score_b, item.candidates_b),
        ):
            console.print(escape(f"  {name}  {number(score)}  {' | '.join(texts[:3])}"))
        console.print(escape(f"  references  {' | '.join(item.references[:3])}"), style="dim")
