"""Check a spec: syntax, keys, values, names and parameters; nothing is generated or scored."""

from __future__ import annotations

import argparse

from harness.cli.options import add_json, add_registry, print_json, use_registry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", help="a YAML file, or the name of a shipped task")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override any key")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    use_registry(args)
    from harness.run.plan import make_plan
    from harness.spec.loading import load_specs

    rows = []
    for loaded in load_specs(args.spec, args.set):
        plan = make_plan(loaded)
        rows.append({
            "task": plan.spec.task, "variant": plan.spec.variant, "reader": plan.spec.dataset.reader,
            "models": [m.label for m in plan.models], "decodings": len(plan.points), "metrics": [m.label for m in plan.metrics],
        })  # fmt: skip
    if args.json:
        print_json({"valid": True, "runs": rows})
        return 0
    for row in rows:
        variant = f" ({row['variant']})" if row["variant"] else ""
        print(f"{args.spec}: valid; task {row['task']}{variant}, reader {row['reader']}")
        print(
            f"  models: {', '.join(row['models'])}\n  decodings: {row['decodings']}\n  metrics: {', '.join(row['metrics'])}"
        )
    return 0
