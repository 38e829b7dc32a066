"""Pass or fail a new version of a system against a baseline,
for continuous integration.

  harness gate runs/new --baseline runs/main --metric cider --max-drop 0.01
  harness gate runs/new --baseline runs/main -m cider --max-drop 1% \\
      -m meteor --max-drop 0.005 --slice language
  harness gate runs/new::small --baseline runs/main::small -m cider \\
      --max-drop 0.01 --junit gate.xml --markdown gate.md

Passed (exit code 0): the one-sided 95 % upper bound of the worsening lies below the
margin for every metric and slice. Failed (1): the lower bound lies above it for one of
them. Undecided: neither; the line says how many examples would decide, and the exit
code is that of --undecided: 4 for stop (the default), 1 for fail, 0 for pass. Bad input
is 2, and so are examples of the baseline that the new version lacks, unless
--allow-missing.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import harness
from harness.cli.options import (
    add_count,
    add_flag,
    add_json,
    add_list,
    add_names,
    add_overwrite,
    add_score_options,
    name_options,
    print_verb_result,
    score_options,
)
from harness.errors import HarnessError, counted

CODES = {"stop": 4, "fail": 1, "pass": 0}
"""Value of ``--undecided`` -> exit code of an undecided gate."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness gate``."""
    parser.add_argument(
        "new", metavar="RUN", help="run directory of the new version, or RUN::MODEL"
    )
    parser.add_argument(
        "--baseline",
        metavar="RUN",
        required=True,
        help="run directory of the baseline, or RUN::MODEL",
    )

    # conditions
    add_names(
        parser,
        "-m",
        "--metric",
        help="metrics that must not get worse; may be repeated",
    )
    add_list(
        parser,
        "--max-drop",
        "MARGIN",
        "largest worsening, 0.01 or 1%% of the baseline; one for all metrics, "
        "or one for each",
    )
    parser.add_argument(
        "--slice",
        metavar="COLUMN",
        help="metadata column: each of its values has to pass too",
    )

    # verdict
    parser.add_argument(
        "--undecided",
        choices=tuple(CODES),
        default="stop",
        help="how an undecided gate ends (default: stop)",
    )
    add_flag(
        parser,
        "--allow-missing",
        "examples that the new version lacks count as the worst value, "
        "or leave a metric undecided",
    )

    # files
    for form in ("junit", "markdown", "page"):
        parser.add_argument(
            f"--{form}",
            metavar="FILE",
            help=f"also write the result as {'HTML' if form == 'page' else form}",
        )
    add_overwrite(parser)

    add_score_options(parser)
    add_count(
        parser,
        "--seed",
        "seed of the orders of betting, and of resampling for numbers that are no sums",
        0,
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the verdict and return its exit code."""
    from harness.decisions.gate.files import gate_markdown, gate_page, junit
    from harness.files.outputs import check_output, write_outputs

    names: list[str] = args.metric or []
    if not names or len(args.max_drop) not in (1, len(names)):
        margins = counted(len(args.max_drop), "margin")
        raise HarnessError(
            f"{counted(len(names), 'metric')} and {margins}: "
            "give --metric NAME --max-drop MARGIN for each metric, or one margin"
        )
    for path in filter(None, (args.junit, args.markdown, args.page)):
        check_output(Path(path), overwrite=args.overwrite)
    result = harness.gate(
        args.new,
        args.baseline,
        names,
        args.max_drop,
        slice=args.slice,
        undecided=args.undecided,
        allow_missing=args.allow_missing,
        **score_options(args),
        seed=args.seed,
    )
    rows = [replace(row, note=name_options(row.note, args)) for row in result.rows]
    notes = [name_options(note, args) for note in result.notes]
    result = replace(result, rows=rows, notes=notes)

    texts = {
        args.junit: junit(result, args.undecided == "fail"),
        args.markdown: gate_markdown(result, result.counts_as),
        args.page: gate_page(result, result.counts_as),
    }
    files = [(Path(path), text.encode()) for path, text in texts.items() if path]
    write_outputs(files, overwrite=args.overwrite)
    print_verb_result(result, as_json=args.json)
    return {"passed": 0, "failed": 1}.get(result.verdict, CODES[args.undecided])
