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

import harness
from harness.analysis.comparisons import Comparison
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
from harness.contracts import EVENTS, Values
from harness.errors import (
    HarnessError,
    InputError,
    UnknownName,
    did_you_mean,
    escape_controls,
)
from harness.files.generated.cleaning import CLEAN, check_clean
from harness.registry import current
from harness.reporting.folding import fold, terminal_width
from harness.run.advice_spelling import OPTION_SPELLING, respell
from harness.run.file_options import FileOptions

if TYPE_CHECKING:
    from harness.cli.options import Parser
    from harness.reporting.table import Table
    from harness.run.finished import Run
    from harness.rundir.records import ResultRecord


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
    """Add the files, and the options that say how they are read."""
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
        required=True,
        action="append",
        metavar="FILE",
        help="file of references: COCO or Karpathy annotations, "
        "or one of the forms above; may be repeated, for files that each have "
        "some references of all examples",
    )

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
    parser.add_argument(
        "--events",
        choices=EVENTS,
        help="texts with times: one paragraph of each record, "
        "or each an item of its own",
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
    from harness.run.file_labels import system_labels
    from harness.run.live_results import live_results
    from harness.run.metric_plan import default_metrics

    form = args.format
    files = _files(args)
    labels = system_labels(files, _options(args).names, args.label)
    several = len(labels) > 1
    baseline = _baseline(args.baseline, labels, files)
    metrics, left_out = (args.metric, {}) if args.metric else default_metrics()

    with live_results(_draw_live_table):
        # stdout has the table alone, whatever a plugin prints
        with redirect_stdout(sys.stderr):
            result = _score_files(args, files, labels, metrics, show=form != "json")
        for name, reason in left_out.items():
            _remark(f"{name} is left out: {reason.partition('; ')[0]}")
        for system, earlier in _equal_systems(result):
            _remark(
                f"{system} and {earlier} hold the same captions: "
                "their differences are 0"
            )
        # a wide table has no differences
        compared = several and (form == "json" or not args.wide)
        rows = _comparisons(result, baseline, args, form != "json") if compared else []
        in_slices: Sequence[Comparison] = []
        if rows and args.by:
            in_slices = _comparisons_of_slices(result, baseline, args, form != "json")
    _print(result, rows, in_slices, baseline if several else "", args, form)
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


def _score_files(
    args: argparse.Namespace,
    files: Sequence[str],
    labels: Sequence[str],
    metrics: Sequence[str],
    show: bool,
) -> Run:
    """Score the files; an error that recommends a parameter of a spec names the option
    of this verb.
    """
    from harness import api

    try:
        return api.score_files(
            files,
            args.references,
            metrics,
            labels=labels,
            p_value=args.p_values,
            seed=args.seed,
            limit=args.limit,
            allow_missing=args.allow_missing,
            allow_unknown=args.allow_unknown,
            allow_empty=args.allow_empty,
            options=_options(args),
            slices=args.by,
            output=Path(args.output) if args.output else None,
            mode="fresh" if args.fresh else "auto",
            show=show,
        )
    except InputError as error:
        raise respell(error, OPTION_SPELLING) from error


def _options(args: argparse.Namespace) -> FileOptions:
    """Return the columns and systems of the files;
    ``null`` stands for no column of ids.
    """
    ids, reference_ids = (
        None if name == "null" else name for name in (args.id, args.reference_id)
    )
    return FileOptions(
        ids,
        tuple(args.column),
        tuple(args.system),
        reference_ids,
        tuple(args.reference_column),
        args.split,
        args.events or "",
        check_clean(args.clean),
    )


def _remark(text: str) -> None:
    """Print a line on stderr."""
    line = f"harness: {escape_controls(' '.join(text.split()))}"
    print(fold(line, terminal_width(sys.stderr)), file=sys.stderr)


def _files(args: argparse.Namespace) -> list[str]:
    """Return the files of candidates; raise :class:`HarnessError` for arguments that do
    not fit together.
    """
    if args.draws < 1:
        raise HarnessError(
            f"score: --draws is {args.draws}; expected at least 1", value=args.draws
        )
    files = [*args.files, *args.candidates]
    if not files:
        raise HarnessError(
            "score: no file of candidates; expected at least one: "
            "harness score A.json B.json --references R.json"
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


def _baseline(name: str | None, labels: Sequence[str], files: Sequence[str]) -> str:
    """Return the label of the baseline, given as a label or as a file; default:
    the first.
    """
    if name is None or name in labels:
        return labels[0] if name is None else name
    if files.count(name) == 1:
        return labels[files.index(name)]
    raise UnknownName(
        f"score: no system '{name}' for --baseline{did_you_mean(name, labels)}; "
        f"systems are {', '.join(labels)}",
        value=name,
    )


def _equal_systems(result: Run) -> list[tuple[str, str]]:
    """Return the pairs (system, earlier system) with the same candidates for the same
    examples.
    """
    candidates = result.samples.lists("candidates")
    first: dict[object, str] = {}
    pairs: list[tuple[str, str]] = []
    for system in result.samples.systems:
        key = tuple(zip(system.examples, (candidates[int(row)] for row in system.rows)))
        if key in first:
            pairs.append((system.label, first[key]))
        first.setdefault(key, system.label)
    return pairs


def _comparisons(
    result: Run, baseline: str, args: argparse.Namespace, show: bool
) -> Sequence[Comparison]:
    """Return the comparisons of the other systems (``system_a``) with the baseline
    (``system_b``), p-values adjusted.
    """
    try:
        rows = harness.compare(
            result,
            baseline=baseline,
            equalise=args.equalise,
            draws=args.draws,
            seed=args.seed,
            show=show,
        )
    except HarnessError as error:
        # no example in common: the values are printed all the same
        _remark(f"no comparisons: {str(error).replace(f' ({result.name})', '')}")
        return []
    return [replace(row, note=name_options(row.note, args)) for row in rows]


def _comparisons_of_slices(
    result: Run, baseline: str, args: argparse.Namespace, show: bool
) -> Sequence[Comparison]:
    """Return the comparisons of the other systems with the baseline within each slice,
    p-values adjusted over all of them.
    """
    from harness.analysis.slices import compare_slices

    return compare_slices(
        result, args.by, baseline=baseline, draws=args.draws, seed=args.seed, show=show
    )


def _print(
    result: Run,
    rows: Sequence[Comparison],
    in_slices: Sequence[Comparison],
    baseline: str,
    args: argparse.Namespace,
    form: str,
) -> None:
    """Print the results in a format; remarks on them go to stderr where stdout is for
    programs.
    """
    from harness.reporting.formats import print_as

    if form == "json":
        results = [dict(record) for record in result.results]
        if not args.output:
            for record in results:
                record.pop("statistics", None)  # names files of a run directory
        values: Values = {
            "results": results,
            "failed": result.failed,
            "comparisons": [row.to_dict() for row in rows],
            "notes": list(result.notes),
            "readings": result.provenance.readings,
        }
        if args.by:
            values["slices"] = [record.to_dict() for record in result.slices]
            values["comparisons_of_slices"] = [row.to_dict() for row in in_slices]
        print_json(values)
        return

    print_as(_table(result, [*rows, *in_slices], baseline, args), form)
    for name, reason in result.failed.items():
        _remark(f"failed {name}: {reason}")
    for note in result.notes:
        _remark(note)
    if args.output and form == "table":
        print(f"run: {result.path}  (harness report {result.path} makes a page of it)")


def _table(
    result: Run, rows: Sequence[Comparison], baseline: str, args: argparse.Namespace
) -> Table:
    """Return the table of the results: a row per metric and system with its difference,
    or a row per system with a column per metric.
    """
    from harness.reporting.percent import percent_comparisons, percent_run, with_note

    printed = percent_run(result) if args.percent else result
    compared = None
    if args.wide:
        from harness.reporting.main_table import clusters_of_run, wide_table

        table = wide_table(printed, clusters_of_run(result))
    else:
        from harness.reporting.score_table import score_table

        if len(result.samples.systems) > 2:  # those of two are all pairs
            from harness.reporting.compared_systems import compared_systems

            compared = compared_systems(result, all_pairs_only=True)
        rows = percent_comparisons(rows) if args.percent else rows
        table = score_table(
            [*printed.records, *printed.slices], rows, baseline, args.draws, compared
        )
    return with_note(table, result.records) if args.percent else table
