"""Estimate mean human scores from few labels and the scores of a metric or judge on all
examples.

  harness label-plan RUN --budget 200 --by cider -o plan.csv
                                                choose the examples; people fill in
                                                the column score
  harness estimate RUN --labels plan.csv --by cider
                                                each system, and the differences of
                                                systems

A metric or judge that predicts the labels narrows the intervals; one that does not
leaves them nearly as they are (prediction-powered inference). Of several, as in --by
cider,meteor, the best linear combination counts. An interval needs about 20 labels;
--bounds LOW,HIGH, the ends of the scale of the scores, gives the labels alone one at
every number of them.
"""

from __future__ import annotations

import argparse
import sys

import harness
from harness.cli.options import (
    add_common,
    add_flag,
    add_format,
    add_names,
    name_options,
    print_json,
)
from harness.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness estimate``."""
    parser.add_argument("run", help="a run directory, or RUN::MODEL")
    parser.add_argument(
        "--labels",
        metavar="FILE",
        required=True,
        help="human scores: columns id, score, and system, probability, stratum",
    )
    add_names(
        parser,
        "--by",
        required=True,
        help="metric or judge of the run that predicts the scores; "
        "several are combined",
    )

    parser.add_argument(
        "--baseline",
        metavar="MODEL",
        help="subtract the score of this system alone (default: all pairs)",
    )
    add_flag(
        parser,
        "--population",
        "the mean over the examples of the run alone, "
        "not over the population that they are drawn from",
    )
    parser.add_argument(
        "--bounds",
        metavar="LOW,HIGH",
        help="smallest and largest score of the scale, such as 1,5",
    )

    add_format(parser, "form of the output; json has the numbers in full")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print the estimates."""
    from harness.decisions.human_scores import HumanScores
    from harness.reporting.formats import print_as

    bounds = _parse_bounds(args.bounds) if args.bounds is not None else None
    result = harness.estimate(
        args.run,
        args.labels,
        by=args.by,
        baseline=args.baseline,
        population=args.population,
        bounds=bounds,
    )
    notes = [name_options(note, args) for note in result.notes]
    result = HumanScores(result.estimates, notes, result.by)
    if args.json or args.format == "json":
        print_json(result.to_dict())
        return 0
    print_as(result.table(), args.format)
    if args.format == "csv":  # stdout is for programs
        for note in notes:
            print(f"harness: {note}", file=sys.stderr)
    return 0


def _parse_bounds(text: str) -> tuple[float, float]:
    """Return the ends of the scale; raise :class:`InputError` for a text of another
    form.
    """
    from harness.analysis.score_declarations import ALL, parse_bounds

    bounds = parse_bounds([text])
    if ALL not in bounds:
        raise InputError(
            f"--bounds is '{text}'; expected LOW,HIGH such as 1,5: "
            "all human scores have one scale"
        )
    return bounds[ALL]
