"""Browse the examples of a finished run in the terminal: scores of every system, sorted
and searched, beside the texts.

harness inspect runs/coco
harness inspect runs/coco -m cider                 # begins with the scores of cider
harness inspect runs/coco --search "dog diff>0.2"  # with the word, and scores that
                                                   # differ by more than 0.2

Keys: arrows or j k move, m changes the metric, s the order, r reverses it, p shows
p-values, / searches, tab goes to the texts, q ends.
"""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness inspect``."""
    parser.add_argument("run", metavar="RUN", help="run directory")
    parser.add_argument(
        "-m",
        "--metric",
        default="",
        metavar="NAME",
        help="metric that is shown first (default: the first)",
    )
    parser.add_argument(
        "--search",
        default="",
        metavar="TEXT",
        help="words, and conditions such as score<0.2, p<=0.05, diff>0.1",
    )


def run(args: argparse.Namespace) -> int:
    """Open the browser; raise :class:`HarnessError` where there is no terminal or
    nothing to browse.
    """
    from harness.errors import HarnessError, UnknownName, did_you_mean
    from harness.results import Run

    finished = Run.open(args.run)
    if finished.provenance.kind or not len(finished.samples):
        raise HarnessError(
            f"{args.run} has no captions to browse; 'harness report {args.run}' "
            "makes a page of it"
        )
    names = finished.samples.metrics
    if args.metric and args.metric not in names:
        raise UnknownName(
            "the run has no scores per example of "
            f"'{args.metric}'{did_you_mean(args.metric, names)}; "
            f"there are {', '.join(names)}",
            value=args.metric,
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise HarnessError(
            f"harness inspect needs a terminal; 'harness report {args.run}' makes a "
            "page of all examples"
        )
    from caption_browser.app import ExampleBrowser

    app = ExampleBrowser(finished, args.metric, args.search)
    app.run()
    return app.return_code or 0
