"""Compare models by paired tests on the same examples.

  harness compare RUN                      every pair of models of one run
  harness compare RUN --baseline MODEL     every other model against one
  harness compare RUN_A RUN_B              the same models (or the only ones) of two
                                           runs
  harness compare RUN::A RUN::B            two models
  harness compare RUN --by domain          the same within slices: a column of the
                                           metadata
  harness compare RUN_A RUN_B --identical  equality of all numbers, digit by digit;
                                           exit code 1 when they differ

Per metric: difference of the numbers that the result table reports, paired bootstrap 95
% interval, two-sided p-value of approximate randomisation, adjusted by Holm over the
pairs of the metric (p Holm), and the verdict at level .05. --all prints the numbers of
both systems too, p as it is and adjusted by Benjamini-Hochberg over the table (p BH),
and the sign test of the per-example scores with the numbers of examples that are larger
in A, in B, and equal.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import harness
from harness.cli.options import (
    add_count,
    add_flag,
    add_format,
    add_json,
    add_list,
    add_names,
    add_score_options,
    name_options,
    print_json,
    print_verb_result,
    score_options,
)

if TYPE_CHECKING:
    from harness.analysis.comparisons import Comparison, Comparisons


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness compare``."""
    parser.add_argument("run_a", help="a run directory, or RUN::MODEL")
    parser.add_argument("run_b", nargs="?", help="another run directory, or RUN::MODEL")

    # pairs, metrics and slices
    parser.add_argument(
        "--baseline",
        metavar="MODEL",
        help="compare the other models of the run with this one alone",
    )
    add_names(
        parser,
        "-m",
        "--metric",
        help="compare these metrics alone: names with commas; may be repeated",
    )
    add_flag(
        parser,
        "--force",
        "compare runs that differ in data, metrics or references; the output says so",
    )
    add_list(
        parser,
        "--by",
        "COLUMN",
        "compare within slices of one run: a column of the metadata, such as domain; "
        "may be repeated",
    )
    add_flag(
        parser,
        "--percent",
        "print numbers and differences times 100 of the metrics that are reported "
        "so, such as BLEU and CIDEr",
    )

    # tests
    add_flag(
        parser,
        "--equalise",
        "compare systems whose set sizes differ on random subsets of equal size "
        "within each example",
    )
    add_flag(
        parser,
        "--anytime",
        "add the confidence sequence and p-value that stay valid however often one "
        "looks at a growing run",
    )
    add_score_options(parser)

    add_count(parser, "--draws", "random draws of each test (%(default)s)", 10_000)
    add_count(parser, "--seed", "seed of the random draws", 0)
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is printed."""
    from harness.reporting.comparison_blocks import MAX_PAIRS

    add_flag(
        parser,
        "--pairs",
        f"print all pairs, also where there are more than {MAX_PAIRS}",
    )
    add_flag(
        parser,
        "--all",
        "print all columns; the files of --format have them in any case",
    )
    add_count(
        parser,
        "--examples",
        "print the N examples on which two systems differ most (one pair: 3)",
    )
    add_flag(
        parser,
        "--identical",
        "check that two runs have the same numbers, intervals, p-values, "
        "captions and scores to the last digit",
    )
    add_format(
        parser, "form of the output, where csv and json have the numbers in full"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the comparisons; return 1 where ``--identical`` finds a difference."""
    from harness.reporting.blocks import print_blocks
    from harness.reporting.comparison_blocks import comparison_blocks

    form = "json" if args.json else args.format
    if args.identical:
        outcome = harness.compare(args.run_a, args.run_b, identical=True)
        print_verb_result(outcome, as_json=form == "json")
        return 1 if outcome.differences else 0

    rows = harness.compare(
        args.run_a,
        args.run_b,
        baseline=args.baseline,
        metrics=args.metric,
        by=args.by,
        force=args.force,
        equalise=args.equalise,
        anytime=args.anytime,
        **score_options(args),
        examples=args.examples,
        draws=args.draws,
        seed=args.seed,
        show=form == "table",
    )
    rows = _with_options(rows, args)
    if form == "json":
        print_json(rows.to_dict())
    elif form == "table":
        blocks = comparison_blocks(
            rows, full=args.all, all_pairs=args.pairs, percent=args.percent
        )
        print_blocks(blocks)
    else:
        _print_file(rows, form, percent=args.percent)
    return 0


def _print_file(rows: Comparisons, form: str, *, percent: bool) -> None:
    """Print the table alone; stdout is for programs."""
    from harness.reporting.comparison_tables import comparison_table
    from harness.reporting.formats import print_as
    from harness.reporting.percent import percent_comparisons, with_note

    if percent:
        print_as(with_note(comparison_table(percent_comparisons(rows)), rows), form)
    else:
        print_as(comparison_table(rows), form)
    for note in rows.notes:
        print(f"harness: {note}", file=sys.stderr)


def _with_options(rows: Comparisons, args: argparse.Namespace) -> Comparisons:
    """Return comparisons whose notes name the options of this verb."""
    from harness.analysis.comparisons import Comparisons

    out: list[Comparison] = []
    for row in rows:
        anytime = row.anytime
        if anytime is not None:
            anytime = replace(anytime, note=name_options(anytime.note, args))
        out.append(replace(row, note=name_options(row.note, args), anytime=anytime))
    notes = [name_options(note, args) for note in rows.notes]
    return Comparisons(out, notes, rows.clusters, rows.examples)
