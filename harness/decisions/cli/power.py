"""Estimate the numbers of candidates, references and examples that reach a given power,
from a pilot run.

  harness power runs/pilot
  harness power runs/pilot --target-p 0.01 --power 0.9 --references 1..5
  harness power runs/pilot --examples 50..1000 --candidates 5,10,20
  harness power runs/pilot --share 0.5 --alpha 0.05
  harness power runs/pilot --compare A B --metric cider --difference 0.02
  harness power runs/judged --compare cider meteor

Sizes beyond the pilot are predicted and marked as extrapolated. --compare is about the
test of two systems, or of two metrics of a run of judgments: the smallest difference
that it detects, and the number of examples for a given difference.
"""

from __future__ import annotations

import argparse

import harness
from harness.cli.options import (
    add_common,
    add_count,
    add_names,
    add_permissions,
    print_verb_result,
)
from harness.decisions.power.verb import MAX_STEPS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness power``."""
    parser.add_argument("run", help="run directory of the pilot")

    _add_goal(parser)
    _add_difference(parser)
    _add_sizes(parser)

    add_count(parser, "--repeats", "number of random orders of the captions", 3)
    add_count(parser, "--limit", "only the first N examples of the pilot")
    add_count(parser, "--seed", "seed of the random orders and of the resamples", 0)
    add_permissions(parser)
    add_common(parser)


def _add_goal(parser: argparse.ArgumentParser) -> None:
    """Add the options of the power that is to be reached."""
    parser.add_argument(
        "--target-p",
        type=float,
        metavar="P",
        help="combined p-value that a run is to reach (default 0.05)",
    )
    parser.add_argument(
        "--power",
        type=float,
        metavar="PROBABILITY",
        help="probability to reach it (default 0.8; none with --share alone)",
    )
    parser.add_argument(
        "--share",
        type=float,
        metavar="SHARE",
        help="share of examples with p <= alpha to reach",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="P",
        help="significance level of the test of one example, for --share",
    )
    parser.add_argument(
        "--combine",
        default="fisher-discrete",
        metavar="NAME",
        help="combined p: fisher-discrete (default), or harmonic-mean, "
        "which is no calibrated p",
    )


def _add_difference(parser: argparse.ArgumentParser) -> None:
    """Add the options of the test of a difference."""
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="the test of two models, or of two metrics of a run of judgments",
    )
    parser.add_argument(
        "--difference",
        type=float,
        metavar="D",
        help="with --compare: the number of examples that detects a difference of D",
    )
    add_names(
        parser,
        "-m",
        "--metric",
        help="only these metrics: names with commas; may be repeated",
    )


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the numbers of captions and examples whose power is estimated."""
    parser.add_argument(
        "--candidates",
        metavar="1..10",
        help="numbers of candidates (default: 1 to the pilot's; "
        "more for metrics of sets alone)",
    )
    parser.add_argument(
        "--references",
        metavar="1..5",
        help="numbers of references (default: the pilot's)",
    )
    parser.add_argument(
        "--examples",
        metavar="50..1000",
        help="numbers of examples (default: the pilot's); "
        f"a range of more than {MAX_STEPS} is cut to {MAX_STEPS} steps",
    )


def run(args: argparse.Namespace) -> int:
    """Print the p-value and power of each size, and the sizes needed."""
    result = harness.power(
        args.run,
        target_p=args.target_p,
        power=args.power,
        share=args.share,
        alpha=args.alpha,
        combine=args.combine,
        compare=args.compare,
        difference=args.difference,
        metrics=args.metric or (),
        candidates=args.candidates,
        references=args.references,
        examples=args.examples,
        repeats=args.repeats,
        limit=args.limit,
        seed=args.seed,
    )
    print_verb_result(result, as_json=args.json)
    return 0
