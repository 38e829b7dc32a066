"""Write an HTML page of one or several finished runs; it needs no network and no server.

harness report runs/coco
harness report runs/a runs/b --output both.html
harness report runs/a --tables tables/                # its tables as CSV, Markdown and LaTeX too
harness report runs/a --figures figures/              # its charts as SVG and PDF for a paper, and its tables
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness report``."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run directories")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (default: report.html in the first run)")
    parser.add_argument(
        "--tables",
        metavar="FOLDER",
        help="write the main table and the views of tables and texts as CSV, Markdown and LaTeX",
    )
    parser.add_argument(
        "--figures",
        metavar="FOLDER",
        help="write every chart as SVG and PDF for papers, and the tables; needs the extra plots",
    )
    parser.add_argument("--title", default="", help="title of the page")
    parser.add_argument(
        "--examples",
        type=int,
        metavar="N",
        help="put N examples on the page, evenly spread over the data (default: all)",
    )
    parser.add_argument(
        "--explain", type=int, metavar="N", help="explain the N largest scores of each metric that can by its texts, also with embeddings",
    )  # fmt: skip
    parser.add_argument(
        "--compare",
        action="store_true",
        help="compute all paired tests of systems, however long they take, and keep them",
    )
    parser.add_argument("--no-images", action="store_true", help="embed no thumbnails of the examples' images")


def run(args: argparse.Namespace) -> int:
    """Write the report and print the files."""
    from harness import api

    files = api.report(
        *args.runs, output=args.output, tables=args.tables, figures=args.figures, title=args.title,
        examples=args.examples, images=not args.no_images, explain=args.explain, compare=args.compare,
    )  # fmt: skip
    print("\n".join(map(str, files)))
    return 0
