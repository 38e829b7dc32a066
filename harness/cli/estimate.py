"""Estimate mean human scores from few labels and the scores of a metric or judge on all examples.

  harness label-plan RUN --budget 200 --by cider -o plan.csv    choose the examples; people fill in the column score
  harness estimate RUN --labels plan.csv --by cider             each system, and the differences of systems

A metric or judge that predicts the labels narrows the intervals; one that does not leaves them as they are (prediction-powered
inference). Several, as in --by cider,meteor, are combined with cross-fitting.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

import harness
from harness.cli.options import add_common, add_count, add_flag, add_format, add_names, print_json
from harness.reporting.table import Table, interval_text, number

if TYPE_CHECKING:
    from harness.analysis.estimate import HumanScores

HEADERS = ("system", "score", "95 % interval", "labels alone", "95 % interval of these", "labels", "saved", "examples")
NOTE = "saved: further labels that the labels alone would need for an interval as narrow"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness estimate``."""
    parser.add_argument("run", help="a run directory, or RUN::MODEL")
    parser.add_argument("--labels", metavar="FILE", required=True, help="human scores: columns id, score, and system, probability, stratum")
    add_names(parser, "--by", required=True, help="metric or judge of the run that predicts the scores; several are combined")
    parser.add_argument("--baseline", metavar="MODEL", help="subtract the score of this system alone (default: all pairs)")
    add_flag(parser, "--population", "the mean over the examples of the run alone, not over the population that they are drawn from")
    add_count(parser, "--seed", "seed of the folds of cross-fitting", 0)
    add_format(parser, "form of the output, where csv and json have the numbers in full")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the estimates."""
    from harness.reporting.formats import print_as

    scores = harness.estimate(args.run, args.labels, by=args.by, baseline=args.baseline, population=args.population, seed=args.seed)
    if args.json or args.format == "json":
        print_json({"estimates": [{**asdict(row), "saved": row.saved} for row in scores.rows], "notes": scores.notes})
    else:
        print_as(estimate_table(scores, args.by), args.format)
    return 0


def estimate_table(scores: HumanScores, by: list[str]) -> Table:
    """Return a row per system and pair of systems."""
    titles = [f"{row.system} - {row.baseline}" if row.baseline else row.system for row in scores.rows]
    cells = [
        [
            title, number(row.value), interval_text(row.ci95), number(row.classical), interval_text(row.classical_ci95),
            str(row.labels), number(row.saved) if row.saved == float("inf") else f"{row.saved:.0f}", str(row.examples),
        ]
        for title, row in zip(titles, scores.rows)
    ]  # fmt: skip
    data = [
        ("system", "score", "low", "high", "labels_alone", "labels_alone_low", "labels_alone_high", "labels", "saved", "examples"),
        *((title, row.value, *row.ci95, row.classical, *row.classical_ci95, row.labels, row.saved, row.examples)
          for title, row in zip(titles, scores.rows)),
    ]  # fmt: skip
    pairs = frozenset([next((k for k, row in enumerate(scores.rows) if row.baseline), 0)]) - {0}
    return Table(
        HEADERS, cells, "lrrrrrrr", f"human score by {', '.join(by)} and labels", (NOTE, *scores.notes), groups=pairs, data=data,
        secondary=("examples", "labels alone"),
    )  # fmt: skip
