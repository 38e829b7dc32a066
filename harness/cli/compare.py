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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import harness
from harness.analysis.comparisons import Comparison
from harness.cli.options import (
    add_count,
    add_flag,
    add_format,
    add_json,
    add_list,
    add_names,
    add_score_options,
    name_options,
    print_folded,
    print_json,
    score_options,
)
from harness.contracts import Values
from harness.errors import HarnessError, InputError, one_line
from harness.reporting.table import Table, shown_name

if TYPE_CHECKING:
    from harness.analysis.comparisons import Comparisons
    from harness.analysis.differing_examples import DifferingExample
    from harness.analysis.pairs import Pair
    from harness.analysis.rankings import RankedSystem

MAX_PAIRS = 10
"""Number of pairs that are printed without ``--pairs``."""


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

    # output
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
    """Print the comparisons."""
    from harness.analysis.differing_examples import differing_most
    from harness.analysis.rankings import rankings

    if args.identical:
        return _identical(args)
    form = "json" if args.json else args.format
    paths = [args.run_a, *([args.run_b] if args.run_b else [])]
    if args.by:
        pair = None
        rows = _compare_within_slices(args, form == "table")
        clusters = {}
    else:
        pair = _only_pair(paths, args)
        rows = harness.compare(
            *paths,
            baseline=args.baseline,
            metrics=args.metric,
            force=args.force,
            equalise=args.equalise,
            anytime=args.anytime,
            **score_options(args),
            draws=args.draws,
            seed=args.seed,
            show=form == "table",
        )
        clusters = rankings(rows)
    rows = _with_options(rows, args)
    examples: Sequence[DifferingExample] = []
    if pair:
        count = 3 if args.examples is None else args.examples
        examples = differing_most(pair, rows[0].metric, count)
    if args.percent and form != "json":
        rows, examples = _times_100(rows, examples)
        clusters = {} if args.by else rankings(rows)

    if form == "json":
        _print_json(rows, clusters, examples)
    elif form == "table":
        _print(rows, clusters, examples, args)
    else:
        from harness.reporting.comparison_tables import comparison_table
        from harness.reporting.formats import print_as
        from harness.reporting.percent import with_note

        table = comparison_table(rows)
        print_as(with_note(table, rows) if args.percent else table, form)
        for note in rows.notes:  # stdout is for programs
            print(f"harness: {note}", file=sys.stderr)
    return 0


def _with_options(rows: Comparisons, args: argparse.Namespace) -> Comparisons:
    """Return comparisons whose notes name the options of this verb."""
    from harness.analysis.comparisons import Comparisons

    out: list[Comparison] = []
    for row in rows:
        anytime = row.anytime
        if anytime is not None:
            anytime = replace(anytime, note=name_options(anytime.note, args))
        out.append(replace(row, note=name_options(row.note, args), anytime=anytime))
    return Comparisons(out, [name_options(note, args) for note in rows.notes])


def _print_json(
    rows: Comparisons,
    clusters: Mapping[str, Sequence[RankedSystem]],
    examples: Sequence[DifferingExample],
) -> None:
    values: Values = {
        "comparisons": [row.to_dict() for row in rows],
        "clusters": {
            metric: [asdict(system) for system in systems]
            for metric, systems in clusters.items()
        },
    }
    if rows.notes:
        values["notes"] = list(rows.notes)
    if examples:
        values["examples"] = [asdict(item) for item in examples]
    print_json(values)


def _compare_within_slices(args: argparse.Namespace, show: bool) -> Comparisons:
    """Return the comparisons within slices; raise :class:`HarnessError` for options of
    other comparisons.
    """
    from harness.analysis.comparisons import Comparisons
    from harness.analysis.slices import compare_slices

    others = {
        "a second run": args.run_b,
        "--equalise": args.equalise,
        "--anytime": args.anytime,
        "--examples": args.examples,
    }
    for name, value in others.items():
        if value:
            raise HarnessError(
                "--by compares the systems of one run within slices, "
                f"and cannot be combined with {name}"
            )
    columns = {
        "baseline": args.baseline,
        "metrics": args.metric,
        "draws": args.draws,
        "seed": args.seed,
    }
    return Comparisons(compare_slices(args.run_a, args.by, **columns, show=show))


def _times_100(
    rows: Comparisons, examples: Sequence[DifferingExample]
) -> tuple[Comparisons, Sequence[DifferingExample]]:
    """Return comparisons, and the examples that differ most by the metric of the first
    one, with the numbers of ``--percent``.
    """
    from harness.analysis.comparisons import Comparisons
    from harness.registry.display_names import is_percent
    from harness.reporting.percent import percent_comparisons
    from harness.reporting.table import Percent

    if is_percent(rows[0].metric):
        examples = [
            replace(
                item,
                score_a=Percent.of(item.score_a),
                score_b=Percent.of(item.score_b),
            )
            for item in examples
        ]
    return Comparisons(percent_comparisons(rows), rows.notes), examples


def _identical(args: argparse.Namespace) -> int:
    """Print what differs between two runs; return 1 when anything does."""
    from harness.analysis.identical import compare_identical

    if args.run_b is None or "::" in args.run_a + args.run_b:
        raise InputError(
            "--identical compares two whole runs: harness compare RUN_A RUN_B "
            "--identical"
        )
    outcome = compare_identical(args.run_a, args.run_b)
    if args.json:
        print_json(asdict(outcome))
    elif outcome.differences:
        print("\n".join(outcome.differences))
    else:
        print(
            f"identical: {outcome.numbers:,} results and {outcome.scores:,} numbers "
            "per example"
        )
    return 1 if outcome.differences else 0


def _only_pair(paths: Sequence[str], args: argparse.Namespace) -> Pair | None:
    """Return the pair of systems where there is one alone; raise :class:`HarnessError`
    for ``--examples`` of several pairs.
    """
    from harness.analysis.pairs import open_sides, pairs, pairs_against

    if args.examples == 0:
        return None
    sides = open_sides(paths)
    if any(side.run.provenance.kind for side in sides):
        if args.examples:
            raise HarnessError(
                "--examples belongs to systems of models; "
                "a run of judgments compares metrics"
            )
        return None
    if args.baseline is None:
        compared = pairs(sides)
    else:
        compared = pairs_against(sides, args.baseline)
    if len(compared) != 1 and args.examples:
        raise HarnessError(
            f"--examples belongs to one pair of systems; there are {len(compared)}: "
            "choose with RUN::MODEL"
        )
    return compared[0] if len(compared) == 1 else None


def _print(
    rows: Comparisons,
    clusters: Mapping[str, Sequence[RankedSystem]],
    examples: Sequence[DifferingExample],
    args: argparse.Namespace,
) -> None:
    """Print rankings, comparisons and examples as tables."""
    from harness.analysis.rankings import unranked_notes
    from harness.reporting.comparison_tables import cluster_table, pair_tables
    from harness.reporting.formats.terminal import print_table

    pairs = pair_tables(rows, full=args.all)
    headings = {row.metric: (shown_name(row), row.higher_is_better) for row in rows}
    ranked: list[Table] = []
    if len(pairs) > 1:  # the ranking of two systems is their comparison
        ranked = [
            cluster_table(*headings[metric], systems)
            for metric, systems in clusters.items()
        ]
    few = len(pairs) <= MAX_PAIRS or args.pairs
    for tables in (ranked, pairs if few else []):
        for table, following in zip(tables, [*tables[1:], None]):
            # Notes that the next table has too stand below the last one alone.
            if following and following.notes == table.notes:
                table = replace(table, notes=())
            print_table(table)
            print()

    if ranked:
        names = {metric: name for metric, (name, _) in headings.items()}
        for note in unranked_notes(rows, names):
            print_folded(note)
    if not few:
        print_folded(
            f"{len(pairs)} pairs of systems; --pairs prints each of them, "
            "--json has all numbers"
        )
    if all(row.difference == 0 for row in rows if row.difference is not None):
        print("All differences are 0: the systems have the same numbers.")
    if args.percent:
        from harness.reporting.percent import percent_note

        print_folded(percent_note(rows))
    for note in rows.notes:
        print_folded(note)
    for sentence in rows[0].forced:
        print_folded(f"--force: {sentence}")
    _print_examples(rows, examples)


def _print_examples(
    rows: Sequence[Comparison], examples: Sequence[DifferingExample]
) -> None:
    """Print captions and scores of the examples on which two systems differ most."""
    from harness.reporting.table import number

    if not examples:
        return
    row = rows[0]
    print(f"Largest differences of {shown_name(row)}:")
    for item in examples:
        print(one_line(item.example))
        for name, score, texts in (
            (row.system_a, item.score_a, item.candidates_a),
            (row.system_b, item.score_b, item.candidates_b),
        ):
            captions = " | ".join(map(one_line, texts[:3]))
            print_folded(f"  {one_line(name)}  {number(score)}  {captions}")
        references = " | ".join(map(one_line, item.references[:3]))
        print_folded(f"  references  {references}")
