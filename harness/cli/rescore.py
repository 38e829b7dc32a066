"""Add metrics to a finished run; its captions are read, not generated again.

harness rescore runs/coco -m spider,trm:distance=meteor
harness rescore runs/coco -m bertscore --executor process --workers 4
"""

from __future__ import annotations

import argparse
from pathlib import Path

import harness
from harness.cli.options import (
    add_all_results,
    add_common,
    add_permissions,
    add_scale,
    print_json,
    scale_options,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness rescore``."""
    parser.add_argument("run_folder", metavar="RUN", help="run directory")
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        required=True,
        metavar="METRIC",
        dest="metrics",
        help="NAME, NAME:PARAMETER=VALUE,..., or a comma-separated list of these (may "
        "be repeated)",
    )
    add_scale(parser, with_shard=False)
    add_all_results(parser)
    add_common(parser)
    add_permissions(parser)


def run(args: argparse.Namespace) -> int:
    """Compute the metrics and print the table of results;
    return 1 when examples failed.
    """
    from harness.reporting.console import print_runs

    extended = harness.rescore(
        Path(args.run_folder),
        args.metrics,
        show=not args.json,
        options=scale_options(args),
    )
    if args.json:
        print_json(extended.to_dict())
    else:
        print_runs([extended], all_results=args.all)
    return 1 if extended.failed else 0
