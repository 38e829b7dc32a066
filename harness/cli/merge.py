"""Join the parts of a run that were computed with ``harness run SPEC --shard I/N``.

harness run tasks/coco.yaml --shard 1/2 --output out/p1
harness run tasks/coco.yaml --shard 2/2 --output out/p2
harness merge out/p1 out/p2 --output out/merged
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import (
    add_all_results,
    add_common,
    add_flag,
    add_permissions,
    print_json,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness merge``."""
    parser.add_argument(
        "parts",
        nargs="+",
        metavar="PART",
        help="run directories of all parts, in any order",
    )
    parser.add_argument(
        "--output", metavar="DIR", required=True, help="run directory of the whole run"
    )
    add_flag(parser, "--fresh", "replace the run in the output directory")
    add_all_results(parser)
    add_common(parser)
    add_permissions(parser)


def run(args: argparse.Namespace) -> int:
    """Join the parts and print the table of results; return 1 when examples failed."""
    from harness.reporting.console import print_run

    merged = harness.merge(
        args.parts,
        args.output,
        mode="fresh" if args.fresh else "auto",
        show=not args.json,
    )
    if args.json:
        print_json(merged.to_dict())
    else:
        print_run(merged, all_results=args.all)
    return 1 if merged.failed else 0
