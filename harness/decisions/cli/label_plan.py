"""Choose the examples whose captions people label,
and print them as CSV with an empty column for the scores.

  harness label-plan RUN --budget 200         a simple random sample
  harness label-plan RUN --budget 200 --by cider -o plan.csv
                                              from strata of a metric's scores

A row has the probability with which its example was drawn. harness estimate RUN
--labels plan.csv --by cider reads the plan with its scores.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import harness
from harness.cli.options import add_count, add_overwrite, add_registry
from harness.errors import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness label-plan``."""
    parser.add_argument("run", help="a run directory, or RUN::MODEL")
    parser.add_argument(
        "--budget",
        type=int,
        required=True,
        metavar="N",
        help="number of examples, each with the captions of all systems",
    )
    parser.add_argument(
        "--by",
        metavar="NAME",
        help="metric or judge of the run whose scores form strata",
    )

    add_count(parser, "--strata", "number of strata (%(default)s)", 5)
    add_count(parser, "--seed", "seed of the draw", 0)

    parser.add_argument(
        "-o", "--output", metavar="FILE", help="file of the plan (default: stdout)"
    )
    add_overwrite(parser)
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Print or write the plan."""
    from harness.files.outputs import write_output

    plan = harness.label_plan(
        args.run, args.budget, by=args.by, strata=args.strata, seed=args.seed
    )
    text = plan.to_csv()
    if args.output is None:
        print(text, end="")
        return 0
    write_output(Path(args.output), text.encode("utf-8"), overwrite=args.overwrite)
    print(
        f"{args.output}: {counted(args.budget, 'example')}, "
        f"{counted(len(plan), 'caption')}; fill in the column score"
    )
    return 0
