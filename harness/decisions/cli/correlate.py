"""Correlation between two groups of metrics over the rows of a table or over runs.

  harness correlate scores.tsv.gz --x pregen --y METEOR,CIDEr --top 5
  harness correlate runs/a runs/b --x 'trm*' --y cider --rows example
  harness correlate judgments.jsonl.gz --judgments cider,bleu:n=4 \\
      --x '*' --y human_score --rows example
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import harness
from harness.cli.options import add_common, add_overwrite, add_permissions, print_json
from harness.errors import HarnessError
from harness.files.outputs import check_output
from harness.reporting.blocks import print_blocks
from harness.spec.metric_text import split_metrics

if TYPE_CHECKING:
    pass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness correlate``."""
    parser.add_argument(
        "source",
        nargs="+",
        help="tables (CSV, TSV, Parquet; several are put one below the other), "
        "or run directories",
    )

    _add_columns(parser)
    _add_selection(parser)
    _add_files(parser)
    _add_sources(parser)

    add_overwrite(parser)
    add_permissions(parser)
    add_common(parser)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options that name columns, rows and groups."""
    parser.add_argument(
        "--x",
        required=True,
        metavar="COLUMNS",
        help="comma-separated columns, patterns, metric names",
    )
    parser.add_argument(
        "--y", required=True, metavar="COLUMNS", help="columns to correlate x with"
    )
    parser.add_argument(
        "--rows",
        choices=["system", "example"],
        default="system",
        help="rows of a run: one per model and decoding, or one per example",
    )
    parser.add_argument(
        "--by",
        metavar="COLUMN",
        help="column of groups (default: 'dataset' where there are several); 'none': "
        "no groups",
    )
    parser.add_argument("--groups", metavar="A,B", help="groups to use, in this order")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the options that drop, cut and sort the x columns."""
    parser.add_argument(
        "--drop",
        choices=["published", "never"],
        default="published",
        help="published: drop an x column that is constant or infinite in any group",
    )
    parser.add_argument(
        "--top",
        type=int,
        metavar="K",
        help="print the K best x columns of each y by R² (default: all)",
    )
    parser.add_argument(
        "--sort",
        choices=["r2", "r", "spearman", "kendall", "name"],
        default="r2",
        help="order of the x columns of each y: by size, the best first (default: "
        "r2), or by name",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options of the files that are written."""
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write all correlations as a table: .csv, .tsv, .json or .parquet",
    )
    parser.add_argument(
        "--plot",
        metavar="DIR",
        help="write best, ranking and, with --baseline, baseline as .png and .svg",
    )
    parser.add_argument(
        "--baseline", metavar="COLUMN", help="an x column to show beside the best"
    )


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the options of strata and of human judgments."""
    parser.add_argument(
        "--strata",
        type=int,
        nargs="?",
        const=5,
        metavar="K",
        help="split the examples of each system of a run into 1..K strata by a score, "
        "and compute all metrics on each stratum",
    )
    parser.add_argument(
        "--strata-by", metavar="METRIC", help="metric whose scores define the strata"
    )
    parser.add_argument(
        "--judgments",
        metavar="METRICS",
        help="read the source as human judgments; the comma-separated metrics become "
        "columns",
    )


def run(args: argparse.Namespace) -> int:
    """Print the correlations, and write plots with ``--plot``."""
    from harness.decisions.correlate.correlate import choose

    if args.top is not None and args.top < 1:
        raise HarnessError(f"--top is {args.top}; expected at least 1")
    if args.output:
        check_output(Path(args.output), overwrite=args.overwrite)
    groups = None
    if args.groups:
        groups = [name.strip() for name in args.groups.split(",")]
    study = harness.correlate(
        *args.source,
        x=args.x,
        y=args.y,
        rows=args.rows,
        by=args.by,
        drop=args.drop,
        strata=args.strata,
        groups=groups,
        strata_by=args.strata_by,
        judgments=None if args.judgments is None else split_metrics(args.judgments),
        sort=args.sort,
    )

    table = study.table
    baseline = None
    if args.baseline and table is not None:
        (baseline, *_) = choose(table, args.baseline)
    files: list[Path] = []
    if args.plot and table is not None:
        from harness.decisions.correlate.files import write_plots

        files = write_plots(
            study,
            table,
            Path(args.plot),
            by=study.by,
            baseline=baseline,
            overwrite=args.overwrite,
        )
    if args.output:
        from harness.decisions.correlate.files import write_study

        files.append(write_study(study, Path(args.output), overwrite=args.overwrite))

    if args.json:
        paths = [str(file) for file in files]
        plots = [path for path in paths if path.endswith(".png")]
        print_json({**study.to_dict(args.top), "files": paths, "plots": plots})
    else:
        print_blocks(study.blocks(args.top, baseline))
        for file in files:
            print(f"wrote {file}")
    return 0
