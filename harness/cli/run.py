"""Run a spec and print the table of results.

harness run tasks/coco.yaml --limit 200 --output runs/first
harness run coco --set metrics='[cider, {trm: {distance: cider}}]'
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.cli.options import add_json, add_registry, print_json, use_registry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", help="a YAML file, or the name of a shipped task ('harness list tasks')")
    parser.add_argument("--output", metavar="DIR", help="the run directory (default: runs/TASK)")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N examples")
    parser.add_argument("--seed", type=int, metavar="N", help="the run's seed")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override any key: decoding.temperature=0.7"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--resume", action="store_true", help="go on with the run in the output directory; an error if there is none"
    )
    group.add_argument("--fresh", action="store_true", help="replace the run in the output directory")
    add_registry(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from harness.run.execute import merged, run
    from harness.run.plan import make_plan
    from harness.spec.loading import load_specs

    use_registry(args)
    loaded = load_specs(args.spec, args.set, limit=args.limit, seed=args.seed)
    plans = [make_plan(item) for item in loaded]
    mode = "fresh" if args.fresh else "resume" if args.resume else "auto"
    runs = []
    for plan in plans:
        base = Path(args.output) if args.output else Path("runs") / Path(plan.spec.task).name
        folder = base if len(plans) == 1 or not args.output else base / plan.spec.task
        if plan.spec.notice and not args.json:
            _loudly(plan.spec.notice, plan.spec.variant)
        runs.append(run(plan, output=folder, mode=mode, show=not args.json))
    done = merged(runs)
    if args.json:
        print_json({"runs": [str(item.path) for item in runs], "results": done.results, "failed": done.failed})
    else:
        from harness.reporting.console import print_table

        for item in runs:
            print_table(item)
    return 1 if done.failed else 0


def _loudly(notice: str, variant: str) -> None:
    from rich.console import Console
    from rich.panel import Panel

    Console(stderr=True).print(
        Panel(" ".join(notice.split()), title=variant or "notice", style="bold yellow", expand=False)
    )
    sys.stderr.flush()
