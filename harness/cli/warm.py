"""Do the first-use work of the built-in metrics now, such as building METEOR's lexicon.

Later runs start at once.

  harness warm
  harness warm tasks/coco.yaml    only what the metrics of a spec need
  harness warm spice              one metric; downloads the files that it needs (spice:
                                  two jars, 522 MB once)
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from harness.cli.options import add_flag, add_permissions, add_registry

NOTED_SECONDS = 0.5
"""Seconds from which a metric is named that was warmed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness warm``."""
    parser.add_argument(
        "spec",
        nargs="?",
        help="a YAML file, the name of a shipped task, or a metric (default: "
        "all built-in metrics)",
    )
    add_flag(parser, "--quiet", "print nothing")
    add_permissions(parser)
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Warm the metrics and print those that took time."""
    from harness.registry import current
    from harness.run.first_use import built_in_metrics, fetched_plans, warm
    from harness.run.metric_plan import caption_plans
    from harness.run.planned_components import planned_metrics
    from harness.spec.loading import load_specs

    started = time.perf_counter()
    metrics = {entry.name for entry in current().entries("metrics")}
    if not args.spec:
        plans = built_in_metrics()
    elif args.spec in metrics and not Path(args.spec).is_file():
        plans = fetched_plans(args.spec)
    else:
        specs = load_specs(args.spec)
        plans = caption_plans(
            [plan for item in specs for plan in planned_metrics(item)]
        )

    ready = 0
    for label, seconds, reason in warm(plans):
        ready += not reason
        # a metric of no spec may lack what it reads
        is_noted = bool(args.spec) if reason else seconds > NOTED_SECONDS
        if not args.quiet and is_noted:
            print(
                f"  {label:<24} {reason or f'{seconds:6.1f} s'}",
                file=sys.stderr,
                flush=True,
            )
    if not args.quiet:
        print(f"{ready} metrics are ready after {time.perf_counter() - started:.1f} s")
    return 0
