"""Write an HTML page of one or several finished runs;
it needs no network and no server.

  harness report runs/coco
  harness report runs/a runs/b --output both.html
  harness report runs/a --tables tables/    its tables as CSV, Markdown and LaTeX too
  harness report runs/a --figures figures/  its charts as SVG and PDF for a paper, and
                                            its tables
  harness report runs/league --gallery      runs of judgments: metrics by question,
                                            with tests, speed and cost
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import add_count, add_flag, add_overwrite, print_verb_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness report``."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run directories")

    # files
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the page (default: report.html in the first run)",
    )
    parser.add_argument(
        "--tables",
        metavar="FOLDER",
        help="write the main table and the views of tables and texts as CSV, "
        "Markdown and LaTeX",
    )
    parser.add_argument(
        "--figures",
        metavar="FOLDER",
        help="write every chart as SVG and PDF for papers, and the tables; "
        "no page without --output",
    )

    # contents of the page
    parser.add_argument("--title", default="", help="title of the page")
    add_count(
        parser,
        "--examples",
        "put N examples on the page, evenly spread over the data (default: all)",
    )
    add_count(
        parser,
        "--explain",
        "explain the N largest scores of each metric that can by its texts, "
        "also with embeddings",
    )
    add_flag(
        parser,
        "--compare",
        "compute all paired tests of systems, however long they take, and keep them",
    )
    add_flag(
        parser,
        "--editable",
        "let readers edit a candidate and see its scores (embeds the kernels in "
        "WebAssembly, 0.2 MB)",
    )
    add_flag(
        parser,
        "--gallery",
        "write the page of metrics of runs of judgments: a league by question, "
        "with tests, speed and cost",
    )
    add_flag(
        parser,
        "--percent",
        "print values times 100 in the files of --tables, "
        "of the metrics that are reported so",
    )
    add_flag(parser, "--no-images", "embed no thumbnails of the examples' images")
    add_overwrite(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report and print the files."""
    files = harness.report(
        *args.runs,
        output=args.output,
        tables=args.tables,
        figures=args.figures,
        title=args.title,
        examples=args.examples,
        images=not args.no_images,
        explain=args.explain,
        compare=args.compare,
        editable=args.editable,
        gallery=args.gallery,
        percent=args.percent,
        overwrite=args.overwrite,
    )
    print_verb_result(files, as_json=False)
    return 0
