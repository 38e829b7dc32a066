"""Check syntax, keys, values, names and parameters of a spec, its data and their
images, and estimate its cost; nothing is generated or scored.

  harness validate spec.yaml
  harness validate coco --set models.0=human    a shipped task, with a key changed
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.options import (
    add_common,
    add_list,
    add_permissions,
    print_folded,
    print_json,
)
from harness.contracts import Values
from harness.errors import HarnessError, InputError, counted
from harness.files.yaml_source import Located

if TYPE_CHECKING:
    from harness.run.metric_plan import Plan
    from harness.run.tasks import TaskPlan


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
        print_folded(
            f"{args.spec}: valid; task {row['task']}{variant}, reader {row['reader']}"
        )
        if "statistics" in row:
            print_folded(f"  statistics: {', '.join(row['statistics'])}")
            print_folded(f"  files: {row['missing'] or 'there'}")
        else:
            print_folded(
                f"  models: {', '.join(row['models'])}\n  decodings: {row['decodings']}"
            )
        print_folded(f"  metrics: {', '.join(row['metrics'])}")
        if "estimate" in row:
            print_folded(f"  cost: {row['estimate']['text']}")
    return 0


def _row(plan: TaskPlan) -> Values:
    """Return the printed values of a plan."""
    row: Values = {
        "task": plan.spec.task,
        "variant": plan.spec.variant,
        **plan.describe(),
        "metrics": [metric.label for metric in plan.metrics],
    }
    if not plan.absence:
        row["estimate"] = _estimate(plan)
    return row


def _estimate(plan: TaskPlan) -> Values:
    """Return the estimate of time and memory of a run on its data set, read here; its
    text says so where data of elsewhere cannot be read.

    Raises :class:`InputError` for local data that cannot be read as the spec says, and
    for media that are not there.
    """
    from harness.run.execute import read_examples
    from harness.run.media_check import require_files
    from harness.run.metric_plan import Plan
    from harness.run.resources import check_plan, check_sets

    examples = None
    try:
        if isinstance(plan, Plan):
            examples = read_examples(plan)
            count = len(examples)
            check = partial(check_plan, plan, examples)
        else:
            sets = plan.caption_sets()
            count = len(sets)
            check = partial(check_sets, plan.metrics, sets)
    except HarnessError as error:
        if isinstance(plan, Plan) and _is_mistake(plan, error):
            raise
        return {"text": f"unknown, because the data set cannot be read: {error}"}

    if isinstance(plan, Plan) and examples is not None:
        require_files(plan, examples)
    cost = check()
    return {
        "text": f"{counted(count, 'example')}, {cost}",
        "seconds": cost.seconds,
        "bytes": cost.bytes,
    }


def _is_mistake(plan: Plan, error: HarnessError) -> bool:
    """Return True for an error of data that are here, or of a parameter that selects
    some of them.
    """
    values = (value for _, value in Located(plan.spec.dataset.params).walk())
    is_local = any(isinstance(value, str) and Path(value).exists() for value in values)
    return isinstance(error, InputError) and (
        is_local or error.parameter in ("split", "columns")
    )
