"""Do the first-use work of the built-in metrics now, such as building METEOR's lexicon.

Later runs start at once.

  harness warm
  harness warm tasks/coco.yaml    only what the metrics of a spec need; with
                                  HARNESS_VECTORS also the vectors of its references
  harness warm spice              one metric; downloads the files that it needs (spice:
                                  two jars, 522 MB once)
"""

from __future__ import annotations

import argparse
import sys

import harness
from harness.cli.options import (
    add_flag,
    add_permissions,
    add_registry,
    print_verb_result,
)

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

    def print_metric(label: str, seconds: float, reason: str) -> None:
        # a metric of no spec may lack what it reads
        is_noted = bool(args.spec) if reason else seconds > NOTED_SECONDS
        if not args.quiet and is_noted:
            text = reason or f"{seconds:6.1f} s"
            print(f"  {label:<24} {text}", file=sys.stderr, flush=True)

    result = harness.warm(args.spec, progress=print_metric)
    if not args.quiet:
        print_verb_result(result, as_json=False)
    return 0
