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
from harness.errors import HarnessError, counted
from harness.files.outputs import check_output
from harness.reporting.folding import print_folded
from harness.spec.metric_text import split_metrics

if TYPE_CHECKING:
    from harness.decisions.correlate.correlate import Study


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
        print_json(
            {
                "source": study.source,
                "by": study.by,
                "groups": study.groups,
                "correlations": study.records(args.top),
                "dropped": study.dropped,
                "left_out": study.left_out,
                "files": [str(file) for file in files],
                "plots": [str(file) for file in files if file.suffix == ".png"],
            }
        )
    else:
        print_study(study, args.top, baseline)
        for file in files:
            print(f"wrote {file}")
    return 0


def print_study(study: Study, top: int | None, baseline: str | None = None) -> None:
    """Print one table per y: its best x columns with pooled coefficients,
    then R² within each group.
    """
    from harness.reporting.formats.terminal import print_table
    from harness.reporting.table import Table, p_text

    inner = [group for group in study.groups if group != "all"]
    sizes = ", ".join(f"{group} {study.tables[group].n}" for group in study.groups)
    print_folded(
        f"{study.source}: {counted(len(study.x), 'column')} against {len(study.y)}; "
        f"rows: {sizes}"
    )
    if study.left_out:
        print_folded(
            f"{counted(study.left_out, 'row')} left out: "
            "a selected column is missing there"
        )
    if study.dropped:
        print_folded(
            f"{counted(len(study.dropped), 'column')} dropped: "
            f"{_count_reasons(list(study.dropped.values()))}"
        )

    for y in study.y:
        names = study.best(y, top)
        if baseline is not None and baseline in study.x and baseline not in names:
            names.append(baseline)
        rows: list[list[str]] = []
        for name in names:
            row = study.record(name, y)
            of_groups = [study.record(name, y, group)["r2"] for group in inner]
            rows.append(
                [
                    name,
                    _four_digits(row["r2"]),
                    _four_digits(row["r"]),
                    p_text(row["p"]),
                    _four_digits(row["spearman"]),
                    _four_digits(row["kendall"]),
                    *map(_four_digits, of_groups),
                ]
            )
        headers = [
            y,
            "R²",
            "r",
            "p",
            "Spearman",
            "Kendall",
            *(f"R² {group}" for group in inner),
        ]
        print()
        print_table(Table(headers, rows, "l" + "r" * (len(headers) - 1)))
        if not names:
            print("no column has a defined correlation")


def _four_digits(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def _count_reasons(reasons: list[str]) -> str:
    return ", ".join(
        f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons)
    )
