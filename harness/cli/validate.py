"""Check syntax, keys, values, names and parameters of a spec, and estimate its cost; nothing is generated or scored."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, cast

from harness.cli.options import add_common, add_list, add_permissions, print_json
from harness.contracts import Values
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.judgments.task_kinds import TaskPlan
    from harness.run.task_plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness validate``."""
    parser.add_argument("spec", help="a YAML file, or the name of a shipped task")
    add_list(parser, "--set", "KEY=VALUE", "override a key")
    add_common(parser)
    add_permissions(parser)


def run(args: argparse.Namespace) -> int:
    """Print task, models, decodings and metrics of a valid spec."""
    from harness import api

    rows = [_row(plan) for plan in api.plans(args.spec, args.set)]
    if args.json:
        print_json({"valid": True, "runs": rows})
        return 0
    for row in rows:
        variant = f" ({row['variant']})" if row["variant"] else ""
        print(f"{args.spec}: valid; task {row['task']}{variant}, reader {row['reader']}")
        if "statistics" in row:
            print(f"  statistics: {', '.join(row['statistics'])}\n  files: {row['missing'] or 'there'}")
        else:
            print(f"  models: {', '.join(row['models'])}\n  decodings: {row['decodings']}")
        print(f"  metrics: {', '.join(row['metrics'])}")
        if "estimate" in row:
            print(f"  cost: {row['estimate']['text']}")
    return 0


def _row(plan: TaskPlan) -> Values:
    """Return the printed values of a plan."""
    row: Values = {"task": plan.spec.task, "variant": plan.spec.variant}
    row = {**row, **plan.describe(), "metrics": [metric.label for metric in plan.metrics]}
    return row if plan.kind else {**row, "estimate": _estimate(cast("Plan", plan))}


def _estimate(plan: Plan) -> Values:
    """Return the estimate of time and memory of a run of models on its data set, read here; its text says so where it cannot be read."""
    from harness.run.execute import read_examples
    from harness.run.resources import check_plan, estimate

    try:
        examples = read_examples(plan)
    except HarnessError as error:
        return {"text": f"unknown, because the data set cannot be read: {error}"}
    check_plan(plan, examples)
    cost = estimate(plan, examples)
    return {"text": f"{len(examples):,} examples, {cost}", "seconds": cost.seconds, "bytes": cost.bytes}
