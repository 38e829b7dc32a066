"""Pass or fail a new version of a system against a baseline, for continuous integration.

  harness gate runs/new --baseline runs/main --metric cider --max-drop 0.01
  harness gate runs/new --baseline runs/main -m cider --max-drop 1% -m meteor --max-drop 0.005 --slice language
  harness gate runs/new::small --baseline runs/main::small -m cider --max-drop 0.01 --junit gate.xml --markdown gate.md

Passed (exit code 0): the one-sided 95 % upper bound of the worsening lies below the margin for every metric and slice. Failed (1): the
lower bound lies above it for one of them. Undecided: neither; the line says how many examples would decide, and the exit code is that
of --undecided: 0 for pass (the default), 1 for fail, 4 for stop. Bad input is 2.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from harness.cli.options import add_count, add_json, add_list, add_names, add_score_options, print_folded, print_json, score_options
from harness.errors import HarnessError, counted

CODES = {"pass": 0, "fail": 1, "stop": 4}
"""Value of ``--undecided`` -> exit code of an undecided gate."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness gate``."""
    parser.add_argument("new", metavar="RUN", help="run directory of the new version, or RUN::MODEL")
    parser.add_argument("--baseline", metavar="RUN", required=True, help="run directory of the baseline, or RUN::MODEL")
    add_names(parser, "-m", "--metric", help="metrics that must not get worse; may be repeated")
    add_list(parser, "--max-drop", "MARGIN", "largest worsening, 0.01 or 1%% of the baseline; one for all metrics, or one for each")
    parser.add_argument("--slice", metavar="COLUMN", help="metadata column: each of its values has to pass too")
    parser.add_argument("--undecided", choices=tuple(CODES), default="pass", help="how an undecided gate ends (default: pass)")
    for form in ("junit", "markdown", "page"):
        parser.add_argument(f"--{form}", metavar="FILE", help=f"also write the result as {'HTML' if form == 'page' else form}")
    add_score_options(parser)
    add_count(parser, "--seed", "seed of resampling, for numbers that are no sums over examples", 0)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the verdict and return its exit code."""
    from harness.analysis.gate import Margin, gate
    from harness.reporting.formats import print_as
    from harness.reporting.gate_files import gate_markdown, gate_page, gate_table, junit
    from harness.rundir.format import write_files

    names, texts = args.metric or [], args.max_drop
    if not names or len(texts) not in (1, len(names)):
        raise HarnessError(
            f"{counted(len(names), 'metric')} and {counted(len(texts), 'margin')}: "
            "give --metric NAME --max-drop MARGIN for each metric, or one margin"
        )
    margins = [Margin.parse(text) for text in (texts if len(texts) > 1 else texts * len(names))]
    result = gate(args.new, args.baseline, dict(zip(names, margins)), slices=args.slice, **score_options(args), seed=args.seed)
    counted_as = f" (counts as {args.undecided}; --undecided {'fail' if args.undecided == 'pass' else 'pass'} changes it)"
    line = result.sentence + (counted_as if result.verdict == "undecided" and args.undecided != "stop" else "")
    write = {
        args.junit: lambda: junit(result, args.undecided == "fail"),
        args.markdown: lambda: gate_markdown(result, line),
        args.page: lambda: gate_page(result, line),
    }
    write_files([(Path(path), content().encode("utf-8")) for path, content in write.items() if path])
    if args.json:
        rows = [{**asdict(row), "verdict": row.verdict} for row in result.rows]
        notes = {"notes": list(result.notes)} if result.notes else {}
        print_json({"verdict": result.verdict, "line": line, "rows": rows, **notes})
    else:
        print_as(gate_table(result))
        print_folded(line)
    return {"passed": 0, "failed": 1}.get(result.verdict, CODES[args.undecided])
