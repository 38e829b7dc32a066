"""Score files of candidates against a file of references, without a spec.

  harness score A.json --references R.json         COCO's metrics, with intervals
  harness score A.json B.json --references R.json  the same, and tests of the
                                                   differences to A

Further options, behind --references R.json:

  -m bleu,cider -m trm:distance=bert               other metrics
  --wide --percent --format latex                  systems x metrics, as in papers
  --by domain                                      numbers and tests by slice too

Files are JSON, JSON Lines, Parquet, csv, tsv, txt and others (docs/data-formats.md),
recognised by their content, and labelled with their names. Metric names are read
without regard to case, '-' and '_'.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.options import (
    add_columns,
    add_count,
    add_flag,
    add_format,
    add_list,
    add_permissions,
    add_registry,
    name_options,
    print_json,
)
from harness.contracts import EVENTS
from harness.errors import HarnessError, UnknownName, escape_controls
from harness.files.generated.cleaning import CLEAN
from harness.files.generated.timed_texts import TIME_UNITS
from harness.registry import current
from harness.reporting.folding import fold, terminal_width

if TYPE_CHECKING:
    from harness.cli.options import Parser
    from harness.rundir.records import ResultRecord
    from harness.verbs.scored_systems import ScoredSystems


LIVE = {
    "metric": "metric",
    "system": "system",
    "value": "so far",
    "95 % interval": "about 95 %",
}
"""Columns of the table that are shown while others are computed -> their headers
meanwhile.
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of ``harness score``."""
    parser.intermixed = True  # files may stand between options
    _add_files(parser)
    _add_columns(parser)
    _add_events(parser)
    _add_metrics(parser)
    _add_systems(parser)

    # scores
    parser.add_argument(
        "--p-values",
        choices=["none", "exact", "monte-carlo"],
        default="none",
        help="permutation p-values per example",
    )
    add_list(
        parser,
        "--clean",
        "KIND,...",
        f"remove these from candidates: {', '.join(CLEAN)} (docs/outputs.md); "
        "may be repeated",
    )

    # files that do not fit
    add_flag(
        parser,
        "--allow-missing",
        "count examples without predictions instead of refusing them",
    )
    add_flag(parser, "--allow-unknown", "leave out predictions for unknown examples")
    add_flag(parser, "--allow-empty", "accept empty captions instead of refusing them")

    # the run
    parser.add_argument("--output", metavar="DIR", help="also write a run directory")
    add_flag(parser, "--fresh", "replace the run in the output directory")
    add_count(parser, "--limit", "use only the first N examples")
    add_count(
        parser, "--draws", "random draws of each comparison (default: 10000)", 10_000
    )
    add_count(parser, "--seed", "seed of the random draws", 0)

    add_permissions(parser)
    add_registry(parser)
    parser.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="format",
        help="the same as --format json",
    )


def _add_files(parser: Parser) -> None:
    """Add the files."""
    formats = "JSON, JSON Lines, Parquet, csv, tsv, txt, ... (docs/data-formats.md)"
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help=f"files of candidates, one per system: {formats}",
    )
    parser.add_argument(
        "--candidates",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="further files of candidates",
    )
    parser.add_argument(
        "--references",
        action="append",
        metavar="FILE",
        help="file of references: COCO or Karpathy annotations, "
        "or one of the forms above; may be repeated, for files that each have "
        "some references of all examples",
    )

    parser.add_argument(
        "--images",
        metavar="FOLDER",
        help="folder of the images, for metrics that read them: files whose name, stem "
        "or number is the id; without --references for metrics of images alone",
    )


def _add_columns(parser: Parser) -> None:
    """Add the options that say how the files are read."""
    # candidates
    parser.add_argument(
        "--id",
        default="",
        metavar="COLUMN",
        help="column of the ids of candidates; null: match records and examples by "
        "position",
    )
    add_columns(
        parser,
        "--column",
        "COLUMN",
        "column of the candidates, or a path such as response.text; "
        "several are several systems",
    )
    add_columns(
        parser,
        "--system",
        "NAME",
        "score these systems of files whose records hold several",
    )

    # references
    parser.add_argument(
        "--reference-id",
        default="",
        metavar="COLUMN",
        help="column of the ids of references; null: number the records",
    )
    add_columns(
        parser, "--reference-column", "COLUMN", "columns of the references, or paths"
    )
    parser.add_argument(
        "--split",
        default="",
        metavar="NAME",
        help="split of the references, of a file whose records have one",
    )


def _add_events(parser: Parser) -> None:
    """Add the options for texts with times."""
    parser.add_argument(
        "--events",
        choices=EVENTS,
        help="texts with times: one paragraph of each record, each an item of its own, "
        "or sets of events (without the option: for metrics of events)",
    )
    parser.add_argument(
        "--time-unit",
        choices=TIME_UNITS,
        metavar="UNIT",
        help="unit of times without one in answers, for metrics of events: "
        f"{', '.join(TIME_UNITS)} (hundredths are of the duration)",
    )
    parser.add_argument(
        "--fps",
        type=float,
        metavar="N",
        help="frames of a second, for times that are frames",
    )


def _add_metrics(parser: Parser) -> None:
    """Add the choice of metrics."""
    defaults, optional = (
        ", ".join(entry.name for entry in current().all_with_role("metrics", role))
        for role in ("default", "default-if-installed")
    )
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        metavar="NAME[:PARAM=VALUE,...]",
        help="a metric, or several with commas; may be repeated: "
        "-m bleu,cider -m trm:distance=bert "
        f"(default: {defaults}; {optional} where installed)",
    )


def _add_systems(parser: Parser) -> None:
    """Add the options of the systems, their comparisons and the table."""
    add_list(
        parser, "--label", "NAME", "name of a system; one per file, in their order"
    )
    parser.add_argument(
        "--baseline",
        metavar="LABEL",
        help="system that the others are compared with (default: the first file)",
    )
    parser.add_argument(
        "--equalise",
        action="store_true",
        help="compare systems whose set sizes differ on random subsets of equal size "
        "within each example",
    )
    add_list(
        parser,
        "--by",
        "COLUMN",
        "numbers by slice too: a column of the records of references, "
        "such as domain; may be repeated",
    )
    add_flag(
        parser, "--wide", "print a row per system and a column per metric: values alone"
    )
    add_flag(
        parser,
        "--percent",
        "print values times 100 of the metrics that are reported so, "
        "such as BLEU and CIDEr",
    )
    add_format(parser, "form of the output")


def run(args: argparse.Namespace) -> int:
    """Score and compare the files; return 1 when examples failed."""
    from harness.run.live_results import live_results
    from harness.verbs.scored_systems import score_systems

    form = args.format
    # stdout has the table alone, whatever a plugin prints
    with live_results(_draw_live_table), redirect_stdout(sys.stderr):
        result = score_systems(
            _files(args),
            args.references,
            args.metric,
            images=args.images,
            p_value=args.p_values,
            seed=args.seed,
            allow_missing=args.allow_missing,
            allow_unknown=args.allow_unknown,
            allow_empty=args.allow_empty,
            id=None if args.id == "null" else args.id,
            columns=args.column,
            system=args.system,
            reference_id=None if args.reference_id == "null" else args.reference_id,
            reference_column=args.reference_column,
            split=args.split,
            events=args.events or "",
            time_unit=args.time_unit or "",
            fps=args.fps,
            clean=args.clean,
            labels=args.label,
            baseline=args.baseline,
            equalise=args.equalise,
            by=args.by,
            draws=args.draws,
            limit=args.limit,
            output=args.output,
            mode="fresh" if args.fresh else "auto",
            show=form != "json",
            compares=form == "json" or not args.wide,  # which has no differences
        )
    result.comparisons = [
        replace(row, note=name_options(row.note, args)) for row in result.comparisons
    ]
    _print(result, args)
    return 1 if result.failed else 0


def _draw_live_table(records: Sequence[ResultRecord]) -> object:
    """Return the results so far as rich draws them above a bar: the columns of the
    final table that are known.
    """
    from harness.reporting.formats.terminal import terminal_grid
    from harness.reporting.score_table import score_table

    table = score_table(records)
    live = table.select([k for k, header in enumerate(table.headers) if header in LIVE])
    return terminal_grid(
        replace(live, headers=[LIVE[header] for header in live.headers]),
        shutil.get_terminal_size().columns,
    )


def _remark(text: str) -> None:
    """Print a line on stderr."""
    line = f"harness: {escape_controls(' '.join(text.split()))}"
    print(fold(line, terminal_width(sys.stderr)), file=sys.stderr)


def _files(args: argparse.Namespace) -> list[str]:
    """Return the files of candidates; raise :class:`HarnessError` for arguments that do
    not fit together.
    """
    files = [*args.files, *args.candidates]
    if not files:
        raise HarnessError(
            "score: no file of candidates; expected at least one: "
            "harness score A.json B.json --references R.json"
        )

    if not args.references and not args.images:
        raise HarnessError(
            "score: no references; expected --references FILE, or --images FOLDER for "
            "metrics that read images alone, such as -m clipscore"
        )

    # "--references R1.json R2.json" gives one file of references alone.
    after = _behind_references(args.arguments, args.files)
    if after:
        _remark(
            f"{after} is read as candidates; a further file of references needs an "
            f"option of its own: --references {after}"
        )
    for file in files:
        if not Path(file).exists() and _is_metric(file):
            metrics = ",".join([*(args.metric or []), file])
            raise HarnessError(
                f"score: '{file}' is a metric, not a file; "
                f"write metrics with commas: -m {metrics}",
                value=file,
            )
    return files


def _behind_references(arguments: Sequence[str], files: Sequence[str]) -> str:
    """Return a file of candidates that follows ``--references FILE`` where others stand
    before; empty where there is none.

    >>> _behind_references(
    ...     ["A.json", "--references", "R1.json", "R2.json"], ["A.json", "R2.json"]
    ... )
    'R2.json'
    """
    for index, token in enumerate(arguments[:-2]):
        behind = arguments[index + 2]
        has_earlier = bool(set(files) & set(arguments[:index]))
        if token == "--references" and behind in files and has_earlier:
            return behind
    return ""


def _is_metric(name: str) -> bool:
    try:
        current().get("metrics", name)
    except UnknownName:
        return False
    return True


def _print(result: ScoredSystems, args: argparse.Namespace) -> None:
    """Print the results in a format; remarks on them go to stderr where stdout is for
    programs.
    """
    from harness.reporting.formats import print_as

    for text in result.remarks:
        _remark(text)
    if args.format == "json":
        print_json(result.to_dict())
        return
    print_as(result.table(wide=args.wide, percent=args.percent), args.format)
    for name, reason in result.failed.items():
        _remark(f"failed {name}: {reason}")
    for note in result.notes:
        _remark(note)
    if args.output and args.format == "table":
        path = result.run.path
        print(f"run: {path}  (harness report {path} makes a page of it)")
