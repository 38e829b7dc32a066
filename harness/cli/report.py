"""Make an HTML page of one or several finished runs; it needs no network and no server.

harness report runs/coco
harness report runs/a runs/b --output both.html
harness report runs/a --tables tables/                # its tables, texts and verdicts as CSV and Markdown too
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run directories")
    parser.add_argument("--output", metavar="FILE", help="where to write (default: report.html in the first run)")
    parser.add_argument(
        "--tables", metavar="FOLDER", help="write every table, texts and verdicts view as CSV and Markdown"
    )
    parser.add_argument("--title", default="", help="the page's title")


def run(args: argparse.Namespace) -> int:
    from harness.reporting.page import write

    print(write(args.runs, Path(args.output) if args.output else None, args.title))
    if args.tables:
        from harness.reporting.export import write_tables

        written = write_tables(args.runs, Path(args.tables))
        print("\n".join(map(str, written)) or "no tables: no view of these runs is a table, texts or verdicts")
    return 0
